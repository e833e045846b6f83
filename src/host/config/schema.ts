import { z } from 'zod';
import { nearest } from '../../kernel/index.js';
import { failureText } from './failure-text-schema.js';
import { handlerWatch, quarantine } from './faults-schema.js';
import { milliseconds } from './milliseconds.js';
import { name } from './name.js';
import { gateway, health } from './network-schema.js';
import { session } from './session-schema.js';

// Each description ends the sentence "Write ...": hints, spec/config.md and the JSON Schema are made of them.

const provider = (what: string) =>
  z
    .string()
    .regex(
      /^(echo|replay:.+|claude(:.+)?|openclaw(:[\w-]+)?)$/,
      'expected "echo", "replay:FILE", "claude", "claude:MODEL", "openclaw" or "openclaw:AGENT"',
    )
    .describe(
      `"echo", "replay:FILE" with a recorded stream, "claude", "claude:MODEL", "openclaw" or "openclaw:AGENT": ${what}`,
    );

const atOnce = (what: string) =>
  z.number().int().positive().describe(`a number, such as 8: ${what}`);

const agent = z.strictObject({
  id: name.describe('the name that routes choose the agent by'),
  provider: provider('who answers'),
  systemPrompt: z
    .string()
    .describe('a text that every prompt of the agent begins with')
    .exactOptional(),
  timeoutMs: z
    .union([z.literal(false), milliseconds('how long one of its turns may take')])
    .describe(
      'milliseconds, such as 10000: how long one of its turns may take, 600000 where unsaid; or false: no limit',
    )
    .exactOptional(),
  maxRunning: atOnce('turns of it that run at once, of all conversations').exactOptional(),
});

const extension = z.strictObject({
  path: name.describe('a path from the folder of this file, or the name of an installed package'),
  config: z.unknown().describe('what the schema of the extension asks for').exactOptional(),
  required: z
    .boolean()
    .describe('true, if nothing is to be started without the extension, such as a guard')
    .exactOptional(),
});

const plugin = z.strictObject({
  path: name.describe('the folder of an OpenClaw plugin: the one with openclaw.plugin.json'),
  config: z
    .record(z.string(), z.unknown())
    .describe('an object: what the plugin gets as its own configuration')
    .exactOptional(),
  trusted: z
    .boolean()
    .describe('true, if the plugin may set the fields that a stage trusts')
    .exactOptional(),
  unsupported: z
    .enum(['refuse', 'skip'])
    .describe(
      '"skip" (the default) or "refuse": what is done with a call of what is not here; what a skipped call gives is never sent, answered or chosen',
    )
    .exactOptional(),
});

const override = z.strictObject({
  disabled: z.boolean().describe('true, so that the handler is not called').exactOptional(),
  priority: z.number().describe('a number: handlers with a higher one run earlier').exactOptional(),
  timeoutMs: milliseconds('how long one call of the handler may take').exactOptional(),
});

const budgets = z.strictObject({
  drainTimeoutMs: milliseconds(
    'how long running messages may take to end after SIGTERM, before they are aborted',
  ).exactOptional(),
  sendTimeoutMs: milliseconds(
    'how long one send may take before it counts as ambiguous',
  ).exactOptional(),
  setupTimeoutMs: milliseconds('how long the setup of one extension may take').exactOptional(),
});

const logging = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .describe(
      '"debug", "info", "warn" or "error"; at "debug" texts of messages and errors are in it',
    )
    .exactOptional(),
  format: z
    .enum(['text', 'json'])
    .describe('"text" for people, or "json": a line of JSON per entry')
    .exactOptional(),
  file: name.describe('the path of a file that gets the log, as JSON').exactOptional(),
});

const lanes = z.strictObject({
  maxRunning: atOnce(
    'messages that run at once, of all conversations; 64 where unsaid',
  ).exactOptional(),
  capacity: atOnce(
    'messages of one conversation that may wait before it is full; 100 where unsaid',
  ).exactOptional(),
  total: atOnce(
    'messages of all conversations that may wait before the host is full; 10000 where unsaid',
  ).exactOptional(),
  whenFull: z
    .enum(['refuse', 'drop', 'wait'])
    .describe(
      '"refuse", "drop" or "wait": what is done with a message whose conversation is full; where unsaid it waits in the journal, or is refused where there is none',
    )
    .exactOptional(),
});

const journal = z.strictObject({
  path: name.describe('the path of the journal, a file that is made where it is missing'),
  maxAttempts: z
    .number()
    .int()
    .positive()
    .describe('how often a message may be begun before it is a dead letter, such as 3')
    .exactOptional(),
  keepForMs: z
    .number()
    .positive()
    .describe('milliseconds, such as 604800000: how long what has ended is kept')
    .exactOptional(),
  keepBytes: z
    .number()
    .positive()
    .describe('bytes, such as 268435456: from how large a file on the oldest is dropped')
    .exactOptional(),
  dispatches: z
    .boolean()
    .describe('false, if what was dispatched is not to be kept: then nothing can be explained')
    .exactOptional(),
  hotPathPayloads: z
    .boolean()
    .describe('true, if payloads of families on a hot path are to be kept as well')
    .exactOptional(),
  rawUpdates: z
    .boolean()
    .describe('true, if dispatches are to hold what a provider sent as it came')
    .exactOptional(),
  redact: z
    .array(name)
    .describe('a list of field names whose values are never written, besides those of secrets')
    .exactOptional(),
});

/** What a config file may hold. Strict at every level: a misspelt key is a mistake, and is told. */
export const configSchema = z
  .strictObject({
    $schema: z.string().describe('the path of the JSON Schema that an editor uses').exactOptional(),
    agent: provider('who answers, where there is one agent').exactOptional(),
    agents: z
      .array(agent)
      .min(1)
      .describe('a list of agents; the first is the default')
      .exactOptional(),
    defaultAgent: name.describe('the id of the agent that answers by default').exactOptional(),
    channels: z
      .array(name)
      .min(1)
      .describe('a list of the channels to start, such as ["console"]')
      .exactOptional(),
    extensions: z.array(extension).describe('a list of extensions to load').default([]),
    plugins: z.array(plugin).describe('a list of OpenClaw plugins to load').default([]),
    openclaw: z
      .record(z.string(), z.unknown())
      .describe('an object: the OpenClaw configuration that plugins are shown')
      .default({}),
    grants: z
      .record(
        z.string(),
        z
          .array(z.string())
          .describe(
            'a list such as ["veto:egress.*", "agent.prompt.building:systemPrompt"]: classes by family, and trusted fields',
          ),
      )
      .describe(
        'an object: by the id of an extension, the classes that it may contribute and the trusted fields that it may set',
      )
      .default({}),
    leastPrivilege: z
      .boolean()
      .describe('true or false: extensions and plugins may only observe, but for their grants')
      .default(false),
    quarantine: z
      .union([z.literal(false), quarantine])
      .describe('an object with the thresholds, or false: no handler is left alone')
      .default({}),
    handlerWatch: z
      .union([z.literal(false), handlerWatch])
      .describe('an object that says what handlers are watched for, or false: nothing')
      .default({}),
    strict: z
      .boolean()
      .describe('true or false: do not start where an extension or a plugin cannot be loaded')
      .default(false),
    overrides: z
      .record(
        z.string(),
        override.describe('an object with the settings of the handler that are overridden'),
      )
      .describe('an object: by "extension/handler", what of the handler is set otherwise')
      .default({}),
    budgets: budgets
      .describe('an object with the time that the steps of the host may take')
      .default({}),
    logging: logging.describe('an object: what is logged, how, and where').default({}),
    health: health
      .describe('an object with the port that a monitor asks; there is none where unsaid')
      .exactOptional(),
    gateway: gateway
      .describe('an object: the OpenClaw gateway of the agents "openclaw"')
      .exactOptional(),
    journal: journal
      .describe(
        'an object with the file that messages and sends are kept in; in memory where unsaid',
      )
      .exactOptional(),
    lanes: lanes.describe('an object with the bounds of what waits').default({}),
    session: session.describe('an object: what agents get of their sessions').default({}),
    failureText: failureText
      .describe('an object: by the code of a failure, the text for the sender of a message')
      .default({}),
  })
  .superRefine(({ agent, agents, defaultAgent }, check) => {
    if (agent !== undefined && agents !== undefined)
      check.addIssue({ code: 'custom', path: ['agents'], message: '"agent" is there as well' });
    const ids = agents === undefined ? ['main'] : agents.map(({ id }) => id);
    const twice = ids.findIndex((id, at) => ids.indexOf(id) < at);
    if (twice >= 0)
      check.addIssue({
        code: 'custom',
        path: ['agents', twice, 'id'],
        message: `"${ids[twice]}" is the id of two agents`,
      });
    const recordings = new Set(
      (agents ?? []).map(({ provider }) => provider).filter((one) => one.startsWith('replay:')),
    );
    const behindGateway = new Set(
      (agents ?? []).map(({ provider }) => provider).filter((one) => one.startsWith('openclaw')),
    );
    if (behindGateway.size > 1)
      check.addIssue({
        code: 'custom',
        path: ['agents'],
        message: 'several agents of a gateway cannot answer in one host',
      });
    if (recordings.size > 1)
      check.addIssue({
        code: 'custom',
        path: ['agents'],
        message: 'several recordings cannot be replayed in one host',
      });
    if (defaultAgent === undefined || ids.includes(defaultAgent)) return;
    const close = nearest(defaultAgent, ids) ?? ids.join(', ');
    check.addIssue({
      code: 'custom',
      path: ['defaultAgent'],
      message: `there is no agent "${defaultAgent}"; the nearest is "${close}"`,
    });
  });

/** A config file as it is written: every key may be left out. spec/config.md says what each is for. */
export interface SluiceConfig extends z.input<typeof configSchema> {}

/** A config file as it was read: checked, secrets filled in, defaults applied. */
export interface HostConfig extends z.output<typeof configSchema> {}
