import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { oneLine, type SluiceError } from 'sluice-kernel/internal';
import { csdkError } from '../errors.js';
import type { CsdkFrame, CsdkToolGate } from '../index.js';

/** The package that runs Claude; an optional peer, since it is large. */
export const sdkPackage = '@anthropic-ai/claude-agent-sdk';

/** The version that the integration suite runs with; `npm run claude:newest` tries the newest. */
export const sdkVersion = '0.3.332';

/** How the SDK treats a tool call that its own rules do not decide. */
export type ClaudePermissionMode =
  | 'default'
  | 'acceptEdits'
  | 'bypassPermissions'
  | 'plan'
  | 'dontAsk'
  | 'auto';

/** The SDK's options, as far as the provider sets them: a structural copy, assignable to the SDK's own. */
export interface ClaudeQueryOptions extends CsdkToolGate {
  abortController?: AbortController;
  includePartialMessages?: boolean;
  permissionMode?: ClaudePermissionMode;
  persistSession?: boolean;
  settingSources?: ('user' | 'project' | 'local')[];
  verbatimPrompts?: boolean;
  disallowedTools?: string[];
  /** By name, as the SDK's own types have them. */
  mcpServers?: Record<string, never>;
  stderr?: (text: string) => void;
  allowDangerouslySkipPermissions?: boolean;
  cwd?: string;
  env?: Record<string, string | undefined>;
  model?: string;
  resume?: string;
  resumeSessionAt?: string;
  systemPrompt?:
    | { type: 'custom'; prompt: string; snapshot: boolean }
    | { type: 'preset'; preset: 'claude_code'; append?: string; snapshot: boolean };
}

/** A query that runs: its frames, and the process behind them. */
export interface ClaudeRun extends AsyncGenerator<CsdkFrame, void> {
  /** Ends the process, and with it the frames. */
  close(): void;
  /** Stops what goes on now: open tool calls get an answer, and the result comes. */
  interrupt?(): Promise<unknown>;
}

/** `query()` of the SDK, as it is called here. */
export type ClaudeQuery = (given: {
  readonly prompt: string;
  readonly options: ClaudeQueryOptions;
}) => ClaudeRun;

/**
 * Finds `query()` of the Claude Agent SDK: the package beside this one, else the one that a folder sees.
 *
 * @param folder where to look as well: the project of whoever runs this.
 * @throws SluiceError `missing-package`, with the command that installs it.
 * @example
 * const provider = claudeProvider({ query: await loadClaudeSdk(process.cwd()) });
 */
export async function loadClaudeSdk(folder?: string): Promise<ClaudeQuery> {
  const file =
    fileSeenFrom(import.meta.url) ?? fileSeenFrom(folder && join(folder, 'package.json'));
  if (file === undefined) throw unusable('it is not installed');
  const { query } = await imported(file);
  if (typeof query !== 'function') throw unusable(`${file} exports no query()`);
  return query as ClaudeQuery; // its own types are not at hand; test/claude/installed compares them with ours
}

/** Asked of Node itself, not of a bundler, which would look for it when it bundles. */
function fileSeenFrom(place: string | undefined): string | undefined {
  if (place === undefined || place === '') return undefined;
  try {
    return createRequire(place).resolve(sdkPackage);
  } catch {
    return undefined;
  }
}

async function imported(file: string): Promise<{ readonly query?: unknown }> {
  try {
    return Object(await import(pathToFileURL(file).href));
  } catch (cause) {
    throw unusable(oneLine(cause), cause);
  }
}

function unusable(problem: string, cause?: unknown): SluiceError {
  const details = { package: sdkPackage, version: sdkVersion, problem };
  return csdkError('missing-package', details, { cause });
}
