import { z } from 'zod';
import { count, duration, name, setting } from './setting.js';

/** An extension to load. */
export const extension = z
  .strictObject({
    path: name.describe('a path from the folder of this file, or the name of an installed package'),
    config: setting(z.unknown(), 'the settings of the extension, as its schema asks for them'),
    required: setting(
      z.boolean(),
      'true, if nothing is to be started without the extension, such as a guard',
    ),
  })
  .describe('an object with its path, such as { "path": "./rate-limit.ts" }');

/** A plugin to load. */
export const plugin = z
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
export const legacy = z.strictObject({
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
export const override = z.strictObject({
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
export const quarantine = z.strictObject({
  failures: setting(count, 'how many failures of a handler within the window are too many'),
  windowMs: duration('the window in which the failures of a handler count'),
  coolDownMs: duration('how long a handler is left alone before it is tried'),
});

/** The faults that handlers are watched for (spec §13.11). */
export const handlerWatch = z.strictObject({
  attributeRejections: setting(
    z.boolean(),
    'true or false: stray rejections are laid at the door of their extension',
  ),
  blockedAfterMs: setting(
    z.union([z.literal(false), z.number().positive()]),
    'milliseconds of blocking that are told of, or false',
  ),
});
