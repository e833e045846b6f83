import { z } from 'zod';
import {
  agent,
  cancelText,
  failureText,
  gateway,
  provider,
  session,
  speech,
} from './agent-sections.js';
import {
  approvals,
  budgets,
  health,
  ingress,
  inspect,
  journal,
  lanes,
  logging,
} from './host-sections.js';
import { count, duration, name, roleEntry, setting, settingOr } from './setting.js';

const extensionObject = z
  .strictObject({
    path: name.describe('a path from the folder of this file, or the name of an installed package'),
    config: setting(z.unknown(), 'the settings of the extension, as its schema asks for them'),
    required: setting(
      z.boolean(),
      'true, if nothing is to be started without the extension, such as a guard',
    ),
  })
  .describe('a path, or an object with it, such as { "path": "./rate-limit.ts" }');

/** An extension to load: a text is its path. */
const extension = z.preprocess(
  (given: string | z.input<typeof extensionObject>) =>
    typeof given === 'string' ? { path: given } : given,
  extensionObject,
);

/** A plugin to load. */
const plugin = z
  .strictObject({
    path: name.describe(
      'the folder of an OpenClaw plugin, the one with openclaw.plugin.json, or the name of an installed package',
    ),
    config: setting(
      z.record(z.string(), z.unknown()),
      'an object: what the plugin gets as its own configuration',
    ),
    trusted: setting(z.boolean(), 'true, if the plugin may set the fields that a stage trusts'),
    optionalTools: setting(
      z.array(name),
      'the names of its optional tools that agents may have, or "*" for all',
    ),
    routes: setting(
      z.boolean(),
      'true, if the HTTP routes of the plugin answer at the port of "health"; by default they answer nobody',
    ),
    unsupported: setting(
      z.enum(['refuse', 'skip']),
      '"skip" (the default) or "refuse": what is done with a call of what is not here; what a skipped call gives is never sent, answered or chosen',
    ),
  })
  .describe('an object with its folder, such as { "path": "./my-plugin" }');

/** The settings of all plugins. */
const legacy = z.strictObject({
  openclaw: setting(
    name,
    'the folder of an installed openclaw, from the folder of this file; by default each plugin uses the one beside it, or else what Sluice has of it',
  ),
  profile: setting(
    z.enum(['2026.3', '2026.9']),
    '"2026.3" or "2026.9": the release whose hooks all plugins get; by default the one that the package of each was built for',
  ),
});

/** A value that a match compares with. */
const matched = z.union([z.string(), z.number(), z.boolean()]);

/** The operator's settings for one handler. */
const override = z.strictObject({
  disabled: setting(z.boolean(), 'true, so that the handler is not called'),
  priority: setting(z.number(), 'a number: handlers with a higher one run earlier'),
  timeoutMs: duration('how long one call of the handler may take'),
  mode: setting(
    z.enum(['enforce', 'audit']),
    "'audit', so that the handler is called without effect, and its verdict is told",
  ),
  match: setting(
    z.record(z.string(), z.union([matched, z.array(matched).min(1)])),
    'an object: by the name of a field, the value or the list of values that the handler is called for',
  ),
});

/** The thresholds for leaving a handler alone that fails (spec §12.6). */
const quarantine = z.strictObject({
  failures: setting(count, 'how many failures of a handler within the window are too many'),
  windowMs: duration('the window in which the failures of a handler count'),
  coolDownMs: duration('how long a handler is left alone before it is tried'),
});

/** The faults that handlers are watched for (spec §13.11). */
const handlerWatch = z.strictObject({
  attributeRejections: setting(
    z.boolean(),
    'true or false: stray rejections are laid at the door of their extension',
  ),
  blockedAfterMs: setting(
    z.union([z.literal(false), z.number().positive()]),
    'milliseconds of blocking that are told of, or false',
  ),
});

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
    extensions: settingOr([], z.array(extension), 'a list of extensions to load'),
    plugins: settingOr([], z.array(plugin), 'a list of OpenClaw plugins to load'),
    openclaw: settingOr({}, data, 'an object: the OpenClaw configuration that plugins are shown'),
    legacy: setting(
      legacy,
      'an object with the installed openclaw whose code plugins import: { "openclaw": "./node_modules/openclaw" }',
    ),
    grants: settingOr(
      {},
      z.record(z.string(), grant),
      'an object: by the id of an extension, the classes that it may contribute and the trusted fields that it may set',
    ),
    leastPrivilege: settingOr(
      false,
      z.boolean(),
      'true or false: extensions and plugins may only observe, but for their grants',
    ),
    quarantine: settingOr(
      {},
      z.union([z.literal(false), quarantine]),
      'an object with the thresholds, or false: no handler is left alone',
    ),
    handlerWatch: settingOr(
      {},
      z.union([z.literal(false), handlerWatch]),
      'an object that says what handlers are watched for, or false: nothing',
    ),
    roles: settingOr(
      {},
      z.record(
        name,
        z
          .array(
            z.string().regex(roleEntry, 'expected "channel:SENDER" or "channel/account:SENDER"'),
          )
          .describe('a list such as ["console:local"]: the senders that have the role'),
      ),
      'an object: by role, the senders that have it; senders with the role "owner" own the host',
    ),
    strict: settingOr(
      false,
      z.boolean(),
      'true or false: do not start where an extension or a plugin cannot be loaded',
    ),
    overrides: settingOr(
      {},
      z.record(
        z.string(),
        override.describe('an object with the settings of the handler that are overridden'),
      ),
      'an object: by "extension/handler", what of the handler is set otherwise',
    ),
    audit: settingOr(
      [],
      z.array(name),
      'a list of ids of extensions that have no effect, and whose verdicts are told',
    ),
    budgets: settingOr({}, budgets, 'an object with the time that the steps of the host may take'),
    logging: settingOr({}, logging, 'an object: what is logged, how, and where'),
    health: setting(
      health,
      'an object with the port that a monitor asks; by default there is none',
    ),
    inspect: setting(
      inspect,
      'an object, which may be empty: the page of the package sluice-inspector; by default there is none',
    ),
    gateway: setting(gateway, 'an object: the OpenClaw gateway of the agents "openclaw"'),
    journal: setting(
      journal,
      'an object with the file or the database that messages and sends are kept in; by default they are kept in memory',
    ),
    stateDir: setting(
      name,
      'the path of the folder in which extensions keep files; by default it lies beside the journal',
    ),
    approvals: settingOr({}, approvals, 'an object: how humans are asked before something happens'),
    ingress: settingOr({}, ingress, 'an object: how messages come in'),
    lanes: settingOr({}, lanes, 'an object with the bounds of what waits'),
    session: settingOr({}, session, 'an object: what agents get of their sessions'),
    ...speech,
    failureText: settingOr(
      {},
      failureText,
      'an object: by the code of a failure, the text for the sender of a message',
    ),
    cancelText: settingOr(
      {},
      cancelText,
      'an object: by the code of a cancel, the text for the sender of a message',
    ),
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
