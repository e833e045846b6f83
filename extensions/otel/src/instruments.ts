/** Upper bounds of buckets, as the conventions say; in seconds, and in tokens. */
const bounds = {
  operation: [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
  ],
  agent: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6],
  messaging: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  tokens: [
    1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
    67_108_864,
  ],
} as const;
/** A stage without a person or a model in it takes far less than a message. */
const fast = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, ...bounds.messaging];

/** The labels of a call of a model. */
const call = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];

interface Row {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly help: string;
  /** Those with a dot are of the conventions; the others are `sluice.` and the label. */
  readonly labels: readonly string[];
  readonly buckets?: number[];
}

const counter = (unit: string, help: string, ...labels: readonly string[]): Row => ({
  ...{ kind: 'counter', unit, help, labels },
});
const gauge = (unit: string, help: string): Row => ({ kind: 'gauge', unit, help, labels: [] });
const seconds = (buckets: readonly number[], help: string, ...labels: readonly string[]): Row => ({
  ...{ kind: 'histogram', unit: 's', help, labels, buckets: [...buckets] },
});

/** Every instrument, for OpenTelemetry and for `/metrics`. No label holds an id (sight §6.2). */
export const instruments = {
  'sluice.messages': counter('{message}', 'Messages that have ended.', 'channel', 'outcome'),
  'sluice.message.duration': seconds(
    bounds.agent,
    'From the receipt of a message to its end.',
    ...['channel', 'outcome'],
  ),
  'sluice.stage.duration': seconds(fast, 'The time of a stage.', 'family', 'outcome'),
  'sluice.handler.duration': seconds(
    fast,
    'The time of a handler.',
    ...['extension', 'contribution', 'class', 'result'],
  ),
  'sluice.handler.failures': counter(
    '{failure}',
    'Failures of handlers and stages.',
    ...['family', 'extension', 'kind', 'policy'],
  ),
  'sluice.cancels': counter('{cancel}', 'Cancels of vetoes.', 'family', 'code', 'extension'),
  'sluice.sends': counter('{send}', 'Sends that have ended.', 'channel', 'state'),
  'sluice.send.attempts': counter('{attempt}', 'Answers of channels.', 'channel', 'status'),
  'sluice.lane.wait': seconds(bounds.agent, 'The wait for a turn in a lane.', 'of'),
  'sluice.records.dropped': counter('{record}', 'Records of a journal that are missing.', 'why'),
  'sluice.lanes.jobs': gauge('{message}', 'Messages that run or wait in lanes.'),
  'sluice.messages.running': gauge('{message}', 'Messages that run.'),
  'sluice.quarantined': gauge('{handler}', 'Handlers in quarantine.'),
  'sluice.extensions.refused': gauge('{extension}', 'Extensions that could not be loaded.'),
  'sluice.dead_letters': gauge('{message}', 'Dead letters of the journal.'),
  'sluice.dead_letters.oldest_age': gauge('s', 'The age of the oldest dead letter.'),
  'sluice.dispatches.dropped': gauge('{record}', 'Records that the journal gave up.'),
  'sluice.journal.commit.duration': gauge('s', 'The mean time of a commit of the journal.'),
  'gen_ai.invoke_agent.duration': seconds(
    bounds.agent,
    'The time of an agent run.',
    ...['gen_ai.agent.name', 'error.type'],
  ),
  'gen_ai.execute_tool.duration': seconds(
    bounds.operation,
    'The time of a tool.',
    ...['gen_ai.tool.name', 'gen_ai.agent.name', 'error.type'],
  ),
  'gen_ai.client.operation.duration': seconds(
    bounds.operation,
    'The time of a call of a model provider.',
    ...call,
    'error.type',
  ),
  'gen_ai.client.token.usage': {
    ...{ kind: 'histogram', unit: '{token}', help: 'Tokens read and written.' },
    labels: [...call, 'gen_ai.token.type'],
    buckets: [...bounds.tokens],
  },
} satisfies Record<string, Row>;

/** The name of an instrument. */
export type InstrumentName = keyof typeof instruments;

/** The values of labels, in the order of the instrument's. An absent one is left out. */
export type Values = readonly (string | undefined)[];

/** The rows, in order. */
export const rows = Object.entries(instruments) as readonly [InstrumentName, Row][]; // Object.entries forgets the names

/** The labels of an instrument with their values. */
export function labelled(name: InstrumentName, values: Values): (readonly [string, string])[] {
  const { labels }: Row = instruments[name];
  return labels.flatMap((label, at) => {
    const value = values[at];
    return value === undefined ? [] : [[label, value] as const];
  });
}
