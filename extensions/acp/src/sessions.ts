import * as acp from '@agentclientprotocol/sdk';
import { type AgentRequest, isPrompt, promptText, type SessionMessage } from 'sluice/stream';
import type { ProgramSettings } from './config.js';
import type { KnownSession, Program } from './program.js';

/** A session of a program, and the messages of ours that it has not heard. */
interface OpenedSession {
  readonly session: KnownSession;
  readonly unheard: readonly SessionMessage[];
}

/**
 * Finds the session of a program that goes on with that of a request: in this process, or else as it was kept. A prompt that was begun
 * before gets a new one, which is told all: the old one may hold half of it.
 */
export async function openSession(
  program: Program,
  request: AgentRequest,
  { cwd, mode }: ProgramSettings,
): Promise<OpenedSession> {
  const { sessionId, history, begun } = request;
  const known =
    begun === undefined ? (program.sessions.get(sessionId) ?? (await revived())) : undefined;
  const session = known ?? (await made());
  if (mode !== undefined && session !== program.sessions.get(sessionId))
    await program.ask((agent) =>
      agent.request(acp.methods.agent.session.setMode, { sessionId: session.id, modeId: mode }),
    );
  program.sessions.set(sessionId, session);
  return { session, unheard: known === undefined ? history : after(request, session.heard) };

  async function made(): Promise<KnownSession> {
    const { sessionId: id } = await program.ask((agent) =>
      agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] }),
    );
    return { id, heard: 0, spentUsd: 0 };
  }

  /** A session that is kept, if the program still has it. What it repeats of it is heard by nobody. */
  async function revived(): Promise<KnownSession | undefined> {
    const kept = readToken(request.providerSession);
    const { sessionCapabilities, loadSession } = program.capabilities;
    if (kept === undefined) return undefined;
    const { resume, load } = acp.methods.agent.session;
    const params = { sessionId: kept.id, cwd, mcpServers: [] };
    try {
      if (sessionCapabilities?.resume) await program.ask((agent) => agent.request(resume, params));
      else if (loadSession) await program.ask((agent) => agent.request(load, params));
      else return undefined;
      return kept;
    } catch {
      return undefined; // a new one is told the history; if the program has gone, the next question says so
    }
  }
}

/** The prompt of a request as the program gets it. It is noted as heard, for the next turn and for a restart. */
export function promptOf(request: AgentRequest, { session, unheard }: OpenedSession): string {
  const { history, beforeHistory, systemPrompt } = request;
  const isNew = systemPrompt !== undefined && session.told !== systemPrompt;
  session.told = systemPrompt;
  session.heard = (beforeHistory?.prompts ?? 0) + history.filter(isPrompt).length + 1;
  request.keepSession(JSON.stringify({ id: session.id, heard: session.heard }));
  const told = isNew ? `<instructions>\n${systemPrompt}\n</instructions>\n\n` : '';
  return told + promptText(request, unheard);
}

/** The messages after the prompts that were heard, and after their answers: another agent has answered meanwhile. */
function after({ history, beforeHistory }: AgentRequest, heard: number): readonly SessionMessage[] {
  let prompts = beforeHistory?.prompts ?? 0;
  return history.filter((message) => {
    if (isPrompt(message)) prompts++;
    return prompts > heard;
  });
}

/** Reads a token back. One that is not understood, such as one of another version, is none. */
function readToken(token: string | undefined): KnownSession | undefined {
  try {
    const { id, heard } = Object(JSON.parse(token ?? 'null'));
    return typeof id === 'string' && typeof heard === 'number' ? { id, heard } : undefined;
  } catch {
    return undefined;
  }
}
