import type { Given, PayloadOf, Principal } from 'sluice';
import type { AgentProvider, AgentRequest, SessionUsage } from 'sluice/stream';
import { type LoadedForTest, samplePayload } from 'sluice/testing';

/** The usage that a turn of the agent reports. `undefined`: nothing. */
export type Reported = Partial<SessionUsage> | undefined;

/** An agent that says what it was asked, and reports usage. */
export interface Spender extends AgentProvider {
  readonly requests: readonly AgentRequest[];
}

/**
 * Makes the agent.
 *
 * @param report gives the usage of a turn, perhaps later; it may throw.
 */
export function spender(
  report: (request: AgentRequest) => Reported | Promise<Reported>,
  { id = 'spender', model = 'model-1' } = {},
): Spender {
  const requests: AgentRequest[] = [];
  return {
    id,
    models: [model],
    toolGate: 'enforce',
    requests,
    async *run(request) {
      requests.push(request);
      yield { type: 'agent_start' };
      const reported = await report(request);
      const message = {
        role: 'assistant' as const,
        content: [{ type: 'text' as const, text: request.prompt }],
        model,
      };
      yield { type: 'message_start', message };
      yield { type: 'message_end', message };
      const usage = reported && usageOf(reported);
      yield { type: 'agent_end', messages: [message], ...(usage !== undefined && { usage }) };
    },
  };
}

/** A promise that a test keeps open. */
export function door(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A usage of which the total is the sum, if it is not said. */
export function usageOf(reported: Partial<SessionUsage>): SessionUsage {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = reported;
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, ...reported };
}

/** A message of a test without a host. Nobody is proven if it has no sender. */
export interface Arriving {
  readonly id: string;
  readonly sender?: string;
  readonly roles?: readonly string[];
  readonly isOwner?: boolean;
  readonly conversation?: string;
  readonly content?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
}

/** The envelope of what happens for a message. */
export function givenOf({ id, sender, roles = [], isOwner = false, ...arriving }: Arriving) {
  const { conversation = 'c-1' } = arriving;
  const channel = 'telegram';
  const principal: Principal | null =
    sender === undefined
      ? null
      : { channel, accountId: 'default', senderId: sender, isOwner, roles };
  return {
    correlationId: id,
    accountRef: { channel, id: 'default' },
    conversationRef: { channel, id: conversation },
    principal,
  } satisfies Given;
}

/** The kernel that the extension is loaded into. */
type Dispatching = Pick<LoadedForTest, 'kernel'>;

/** Lets a message arrive. */
export function arrive(lab: Dispatching, arriving: Arriving) {
  const { agentId = 'main', sessionKey, content = 'hello', conversation = 'c-1' } = arriving;
  const { message, ...sample } = samplePayload('routing.resolving');
  const place = { channel: 'telegram', accountId: 'default', conversationId: conversation };
  return lab.kernel.dispatch(
    'routing.resolving',
    {
      ...sample,
      message: { ...message, ...place, content },
      explicitRoute: { agentId, ...(sessionKey !== undefined && { sessionKey }) },
    },
    givenOf(arriving),
  );
}

/** A run of a test without a host. */
export interface Run extends Arriving {
  readonly runId: string;
  /** The model; absent if none is called. */
  readonly model?: string;
}

const fieldsOf = ({ runId, agentId = 'main', sessionKey = 's-1' }: Run) => ({
  ...{ runId, agentId, sessionKey },
});

/** Lets a run begin, and call its model. */
export async function start(lab: Dispatching, run: Run): Promise<void> {
  const { model } = run;
  const starting = { ...samplePayload('agent.starting'), ...fieldsOf(run) };
  await lab.kernel.dispatch('agent.starting', starting, givenOf(run));
  if (model === undefined) return;
  const input = { ...samplePayload('agent.llm.input'), ...fieldsOf(run), model };
  await lab.kernel.dispatch('agent.llm.input', input, givenOf(run));
}

/** Lets a run end. */
export function complete(
  lab: Dispatching,
  run: Run,
  usage: PayloadOf<'agent.completed'>['usage'],
): Promise<unknown> {
  const { usage: _, ...sample } = samplePayload('agent.completed');
  const told = { ...sample, ...fieldsOf(run), messages: [] };
  return lab.kernel.dispatch(
    'agent.completed',
    usage === undefined ? told : { ...told, usage },
    givenOf(run),
  );
}

/** An account of today, as the store has it. */
export interface Kept {
  readonly name: string;
  readonly used: { readonly tokens: number; readonly microUsd: number };
  readonly guessed: number;
  readonly holds: Readonly<Record<string, { readonly tokens: number; readonly runId?: string }>>;
}

/** The accounts of a kind of cap. */
export async function accountsOf(
  { list }: Pick<LoadedForTest['store'], 'list'>,
  capName: string,
): Promise<readonly Kept[]> {
  const entries = await list();
  return entries
    .filter(({ key }) => key.split('/')[1] === capName)
    .map(({ value }) => value as Kept); // as the extension has written it
}
