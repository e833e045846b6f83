import { z } from 'zod';
import { agent, gateway, provider, session } from './agent-sections.js';
import { cancelText } from './cancel-text-schema.js';
import { extension, handlerWatch, override, plugin, quarantine } from './extension-sections.js';
import { failureText } from './failure-text-schema.js';
import { approvals, budgets, health, journal, lanes, logging } from './host-sections.js';
import { name, roleEntry, setting } from './setting.js';

// Each description ends the sentence "Write ...". Hints, spec/config.md, the JSON Schema and the docstrings of `SluiceConfig` are made of them.
// The published declarations do not name zod: `npm run build` writes the fields of `SluiceConfig` into its declaration.

const data = z.record(z.string(), z.unknown());

const grant = z
  .array(z.string())
  .describe(
    'a list such as ["veto:egress.*", "agent.prompt.building:systemPrompt"]: classes by family, and trusted fields',
  );

/** The settings of a config file. Strict at every level: a misspelt key is a mistake, and is told. */
export const configSchema = z
  .strictObject({
    $schema: setting(z.string(), 'the path of the JSON Schema that an editor uses'),
    agent: provider('who answers, where there is one agent').exactOptional(),
    agents: setting(z.array(agent).min(1), 'a list of agents; the first is the default'),
    defaultAgent: setting(
      name,
      'the id of the agent that answers by default: one of "agents", or one that an extension provides',
    ),
    channels: setting(z.array(name).min(1), 'a list of the channels to start, such as ["console"]'),
    extensions: z.array(extension).describe('a list of extensions to load').default([]),
    plugins: z.array(plugin).describe('a list of OpenClaw plugins to load').default([]),
    openclaw: data
      .describe('an object: the OpenClaw configuration that plugins are shown')
      .default({}),
    grants: z
      .record(z.string(), grant)
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
    roles: z
      .record(
        name,
        z
          .array(
            z.string().regex(roleEntry, 'expected "channel:SENDER" or "channel/account:SENDER"'),
          )
          .describe('a list such as ["console:local"]: the senders that have the role'),
      )
      .describe(
        'an object: by role, the senders that have it; senders with the role "owner" own the host',
      )
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
    audit: z
      .array(name)
      .describe('a list of ids of extensions that have no effect, and whose verdicts are told')
      .default([]),
    budgets: budgets
      .describe('an object with the time that the steps of the host may take')
      .default({}),
    logging: logging.describe('an object: what is logged, how, and where').default({}),
    health: setting(
      health,
      'an object with the port that a monitor asks; by default there is none',
    ),
    gateway: setting(gateway, 'an object: the OpenClaw gateway of the agents "openclaw"'),
    journal: setting(
      journal,
      'an object with the file that messages and sends are kept in; by default they are kept in memory',
    ),
    stateDir: setting(
      name,
      'the path of the folder in which extensions keep files; by default it lies beside the journal',
    ),
    approvals: approvals
      .describe('an object: how humans are asked before something happens')
      .default({}),
    lanes: lanes.describe('an object with the bounds of what waits').default({}),
    session: session.describe('an object: what agents get of their sessions').default({}),
    failureText: failureText
      .describe('an object: by the code of a failure, the text for the sender of a message')
      .default({}),
    cancelText: cancelText
      .describe('an object: by the code of a cancel, the text for the sender of a message')
      .default({}),
  })
  .superRefine(({ agent, agents }, check) => {
    const refuse = (path: PropertyKey[], message: string): void =>
      check.addIssue({ code: 'custom', path, message });
    if (agent !== undefined && agents !== undefined) refuse(['agents'], '"agent" is there as well');
    const ids = agents?.map(({ id }) => id) ?? ['main'];
    const twice = ids.findIndex((id, at) => ids.indexOf(id) < at);
    if (twice >= 0) refuse(['agents', twice, 'id'], `"${ids[twice]}" is the id of two agents`);
    const providers = [...new Set(agents?.map(({ provider }) => provider))];
    const severalOf = (kind: string): boolean =>
      providers.filter((one) => one.startsWith(kind)).length > 1;
    if (severalOf('openclaw'))
      refuse(['agents'], 'several agents of a gateway cannot answer in one host');
    if (severalOf('replay:'))
      refuse(['agents'], 'several recordings cannot be replayed in one host');
  });

/** A config file as it was read: checked, secrets filled in, defaults applied. */
export interface HostConfig extends z.output<typeof configSchema> {}
