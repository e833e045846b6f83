import type { Kernel } from 'sluice';
import {
  type BridgeOptions,
  bridgeCsdk,
  type CsdkFrame,
  coderStream,
  normalizeSession,
} from 'sluice/csdk';

/** The three ways to read a stream of the SDK; `query` is that of @anthropic-ai/claude-agent-sdk. */
export async function readThreeWays(
  query: (request: { prompt: string; options?: object }) => AsyncIterable<CsdkFrame>,
  show: (event: object) => void,
  kernel: Kernel,
  { session, runId }: BridgeOptions,
  prompt: string,
  signal: AbortSignal,
): Promise<void> {
  // session events: each text once, with partial messages or without
  for await (const event of normalizeSession(query({ prompt }), { signal })) show(event);

  // coder events: one shape for a user interface; one `done` or `error` at the end
  for await (const event of coderStream(query({ prompt }), { signal })) show(event);

  // your own query through the pipeline; vetoes and mutators of agent.tool.calling are a real gate
  const bridge = bridgeCsdk(kernel, { session, runId, prompt });
  const { canUseTool, hooks } = bridge;
  const frames = query({ prompt, options: { canUseTool, hooks } });
  for await (const event of bridge.run(frames)) show(event);
}
