import { type ApprovalQuestion, oneLine } from 'sluice-kernel/internal';
import type { CsdkPermissionOptions } from './sdk-callbacks.js';

/** The questions of the SDK that humans answer: none, those that a rule or a hook asks for, or each (judgement §4.32). */
export type SdkQuestions = 'none' | 'explicit' | 'all';

/** The asker of each question of the SDK. */
const asker = Object.freeze({ extensionId: 'claude-agent-sdk', contributionId: 'canUseTool' });

/** Makes the question to a human of a call of `canUseTool`; nothing if the pipeline alone answers it. */
export function sdkQuestion(
  toolName: string,
  sdk: CsdkPermissionOptions,
  which: SdkQuestions,
): ApprovalQuestion | undefined {
  if (which === 'none' || (which === 'explicit' && !isExplicit(sdk))) return undefined;
  const { decisionReason, blockedPath } = sdk;
  const lines = [
    ...(decisionReason === undefined ? [] : [oneLine(decisionReason)]),
    ...(blockedPath === undefined ? [] : [`path: ${oneLine(blockedPath)}`]),
  ];
  return Object.freeze({
    asker,
    title: `May ${oneLine(toolName)} run? The Claude SDK asks.`,
    ...(lines.length > 0 && { text: lines.join('\n') }),
    of: 'owner',
    scopes: Object.freeze([]),
  });
}

/** Returns whether a rule or a hook wanted a human to be asked. If an SDK tells no kind, a cause in words counts. */
function isExplicit(sdk: CsdkPermissionOptions): boolean {
  const { decisionReasonType: type, decisionReason, matchedAskRule } = sdk;
  if (matchedAskRule !== undefined) return true;
  return type === undefined ? decisionReason !== undefined : type === 'hook' || type === 'rule';
}
