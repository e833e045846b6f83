import {
  type AgentProvider,
  type AgentRequest,
  type AgentTrigger,
  MessageWriter,
  type StreamDelta,
} from 'sluice/stream';

/** An `IAgentProvider` of Omni, as far as this bridge uses it. */
export interface OmniAgent {
  readonly id: string;
  trigger(context: never): Promise<{ readonly parts: readonly string[] } | null>;
  triggerStream?(context: never): AsyncGenerator<StreamDelta>;
}

/** Makes an agent of an agent of Omni. Its tools run inside it, so that no veto can stop them. */
export function fromOmniAgent(omni: OmniAgent): AgentProvider {
  return {
    id: omni.id,
    models: [omni.id],
    toolGate: 'observe-only',
    async *run(request) {
      const writer = new MessageWriter({ provider: omni.id, model: request.model });
      const trigger = triggerOf(request) as never; // with the fields that Omni asks for
      yield { type: 'agent_start' };
      let shown = '';
      for await (const delta of omni.triggerStream?.(trigger) ?? answered(omni, trigger)) {
        if (delta.phase === 'error') throw new Error(delta.error);
        if (delta.phase === 'thinking' || delta.content === shown) continue;
        const goesOn = delta.content.startsWith(shown);
        if (!goesOn) yield* writer.end(); // it is said anew
        yield* writer.grow('text', delta.content.slice(goesOn ? shown.length : 0));
        shown = delta.content;
      }
      yield* writer.end();
      yield { type: 'agent_end', messages: writer.messages };
    },
  };
}

async function* answered(omni: OmniAgent, trigger: never): AsyncGenerator<StreamDelta> {
  const answer = await omni.trigger(trigger);
  yield { phase: 'final', content: answer?.parts.join('\n\n') ?? 'NO_REPLY' };
}

/** The trigger of a turn. Omni stops its run by `abortSignal`. */
function triggerOf(request: AgentRequest): AgentTrigger & { readonly event: object } {
  const { sessionKey, sessionId, runId, agentId, prompt, signal } = request;
  return {
    ...{ type: 'dm', event: {}, traceId: runId, sessionId },
    source: { channelType: 'sluice', instanceId: agentId, chatId: sessionKey, messageId: runId },
    sender: { platformUserId: sessionKey },
    content: { text: prompt },
    abortSignal: signal,
  };
}
