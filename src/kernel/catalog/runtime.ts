import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { briefly, watchedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';

const workspaceDir = f.optional(f.text('The directory the host works in.'));
const config = f.optional(f.openRecord("The host's configuration, as its source hands it over."));

const gatewayFields = {
  workspaceDir,
  port: f.optional(f.count('The port it listens on; absent where it has none.')),
  address: f.optional(f.text('The address it listens on.')),
};

const runtimeStartedPayload = f.object({
  workspaceDir,
  config,
  version: f.optional(f.text('The version of the host.')),
  pid: f.optional(f.count('The process id.')),
  startedAtMs: f.optional(f.amount('When it started, in milliseconds since 1970.')),
});
/** The payload of `runtime.started`. */
export interface RuntimeStarted extends Readonly<Infer<typeof runtimeStartedPayload>> {}

const runtimeStoppingPayload = f.object({
  reason: f.optional(f.text('Why it stops: a signal, the end of its input, an error.')),
  uptimeMs: f.optional(f.amount('How long it ran, in milliseconds.')),
});
/** The payload of `runtime.stopping`. */
export interface RuntimeStopping extends Readonly<Infer<typeof runtimeStoppingPayload>> {}

const gatewayStartingPayload = f.object(gatewayFields);
/** The payload of `gateway.starting`. */
export interface GatewayStarting extends Readonly<Infer<typeof gatewayStartingPayload>> {}

const gatewayStartedPayload = f.object({
  ...gatewayFields,
  config,
  startedAtMs: f.optional(f.amount('When it was ready, in milliseconds since 1970.')),
  dependencies: f.optional(f.opaque('What a bridged source hands its startup handlers.')),
});
/** The payload of `gateway.started`. */
export interface GatewayStarted extends Readonly<Infer<typeof gatewayStartedPayload>> {}

const gatewayStoppingPayload = f.object({
  ...gatewayFields,
  reason: f.optional(f.text('Why it stops.')),
  isRestart: f.optional(f.flag('It is expected back.')),
});
/** The payload of `gateway.stopping`. */
export interface GatewayStopping extends Readonly<Infer<typeof gatewayStoppingPayload>> {}

const scheduleReconciledPayload = f.object({
  reason: f.oneOf(['startup', 'reload'], 'Why they were read.'),
  schedules: f.optional(f.count('How many there are.')),
});
/** The payload of `schedule.reconciled`. */
export interface ScheduleReconciled extends Readonly<Infer<typeof scheduleReconciledPayload>> {}

const scheduleChangedPayload = f.object({
  action: f.oneOf(
    ['added', 'updated', 'removed', 'scheduled', 'started', 'finished'],
    'What happened: `added`, `updated` (its times), `started` and `finished` (a run of it) in this host.',
  ),
  scheduleId: f.text('The extension and the name of the schedule: `acme/morning`.'),
  cron: f.optional(f.text('Its cron expression.')),
  at: f.optional(f.text('Its one moment, in place of a cron expression.')),
  timeZone: f.optional(f.text('The time zone of its times.')),
  runId: f.optional(f.text('The id of the run, the same in each attempt.')),
  attempt: f.optional(f.count('The number of the attempt, from 1 up.')),
  dueAtMs: f.optional(f.amount('When the run was due, in milliseconds since 1970.')),
  nextDueAtMs: f.optional(f.amount('When the next run is due, in milliseconds since 1970.')),
  durationMs: f.optional(f.amount('How long the run took.')),
  status: f.optional(f.oneOf(['ok', 'error', 'skipped'], 'How the run ended.')),
  error: f.optional(f.text('What went wrong, where something did.')),
});
/** The payload of `schedule.changed`. */
export interface ScheduleChanged extends Readonly<Infer<typeof scheduleChangedPayload>> {}

export const runtimeStages = [
  watchedStage({
    family: 'runtime.started',
    payload: named<RuntimeStarted>(runtimeStartedPayload),
    shared: ['config'],
    purpose: 'Tells that the extensions are loaded.',
    emittedWhen: 'when the host starts, before anything else',
  }),
  watchedStage({
    family: 'runtime.stopping',
    payload: named<RuntimeStopping>(runtimeStoppingPayload),
    ...briefly,
    purpose: 'Side effects before the process ends.',
    emittedWhen: 'when the host has drained, after everything else',
  }),
  watchedStage({
    family: 'gateway.starting',
    payload: named<GatewayStarting>(gatewayStartingPayload),
    purpose: 'Side effects before any account starts.',
    emittedWhen: 'before the first account starts',
  }),
  watchedStage({
    family: 'gateway.started',
    payload: named<GatewayStarted>(gatewayStartedPayload),
    shared: ['config', 'dependencies'],
    purpose: 'Side effects once messages can come.',
    emittedWhen: 'when every account has started or failed to',
  }),
  watchedStage({
    family: 'gateway.stopping',
    payload: named<GatewayStopping>(gatewayStoppingPayload),
    ...briefly,
    purpose: 'Side effects before any account stops.',
    emittedWhen: 'when the host begins to drain',
  }),
  watchedStage({
    family: 'schedule.reconciled',
    payload: named<ScheduleReconciled>(scheduleReconciledPayload),
    ...briefly,
    purpose: 'Tells that all schedules are known.',
    emittedWhen: 'when the host has started, and when extensions were loaded anew',
  }),
  watchedStage({
    family: 'schedule.changed',
    payload: named<ScheduleChanged>(scheduleChangedPayload),
    ...briefly,
    purpose: 'Tells of each new or changed schedule, and of each run.',
    emittedWhen:
      'when a schedule is first seen or its times differ, and when a run begins and ends',
  }),
] as const;
