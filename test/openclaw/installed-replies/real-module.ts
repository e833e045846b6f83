import { pathToFileURL } from 'node:url';
import type { ToolResultReply } from '../../../src/agent/reply/emit/reply-payload.js';
import type { AssistantMessage, SessionEvent } from '../../../src/sdk/stream/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the real subscription returns, as far as the suite reads it. */
export interface RealSubscription {
  readonly assistantTexts: readonly string[];
  readonly toolMetas: readonly unknown[];
  unsubscribe(): void;
  waitForCompactionRetry(): Promise<void>;
  getUsageTotals(): unknown;
  getLastToolError(): unknown;
  getCompactionCount(): number;
  getMessagingToolSentTexts(): unknown;
  getMessagingToolSentMediaUrls(): unknown;
  getMessagingToolSentTargets(): unknown;
  didSendViaMessagingTool(): boolean;
  didSendDeterministicApprovalPrompt(): boolean;
  isCompacting(): boolean;
  isCompactionInFlight(): boolean;
}

/** The session that the real subscription listens to. */
export interface FakeSession {
  readonly id: string;
  readonly messages: readonly unknown[];
  readonly sessionFile: string;
  isCompacting: boolean;
  abortCompaction(): void;
  subscribe(listener: (event: SessionEvent) => void): () => void;
}

/** The parts of the real package that the suite drives, and the ones that hold its words. */
export interface RealModule {
  subscribeEmbeddedPiSession(params: Fields & { readonly session: FakeSession }): RealSubscription;
  onAgentEvent(listener: (event: { stream: string; data: Fields }) => void): () => boolean;
  initializeGlobalHookRunner(registry: Fields): void;
  extendExecMeta(tool: string, args: unknown, meta: string | undefined): string | undefined;
  inferToolMetaFromArgs(tool: string, args: unknown): string | undefined;
  formatToolAggregate(tool: string, metas: readonly string[] | undefined, options: Fields): string;
  normalizeToolName(tool: string): string;
  filterToolResultMediaUrls(tool: string, urls: readonly string[]): readonly string[];
  buildToolMutationState(
    tool: string,
    args: unknown,
    meta: string | undefined,
  ): { mutatingAction: boolean; actionFingerprint?: string };
  formatAssistantErrorText(message: AssistantMessage, options?: Fields): string | undefined;
  sanitizeUserFacingText(text: string, options?: { readonly errorContext?: boolean }): string;
  buildTextObservationFields(text: string): { textPreview?: string };
  buildExecApprovalPendingReplyPayload(details: Fields): ToolResultReply;
  buildExecApprovalUnavailableReplyPayload(details: Fields): ToolResultReply;
}

/** Loads the parts out of the package's chunk. Works only under `register-hooks.mjs`. */
export async function loadRealModule(chunk: string): Promise<RealModule> {
  const loaded = (await import(pathToFileURL(chunk).href)) as { parityParts?: RealModule };
  if (loaded.parityParts === undefined) throw new Error(`${chunk} was loaded without its parts`);
  return loaded.parityParts;
}
