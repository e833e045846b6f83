import { type Static, Type } from 'typebox';
import { defineStage } from '../stage.js';
import { amount, closed, count, flag, opaque, openRecord, optional, text } from './field.js';

const workspaceDir = optional(text('The directory the host works in.'));
const config = optional(openRecord("The host's configuration, as its source hands it over."));

const gatewayFields = {
  workspaceDir,
  port: optional(count('The port it listens on; absent where it has none.')),
  address: optional(text('The address it listens on.')),
};

export const runtimeStartedPayload = Type.Object(
  {
    workspaceDir,
    config,
    version: optional(text('The version of the host.')),
    pid: optional(count('The process id.')),
    startedAtMs: optional(amount('When it started, in milliseconds since 1970.')),
  },
  closed,
);
/** The payload of `runtime.started`. */
export interface RuntimeStarted extends Static<typeof runtimeStartedPayload> {}

export const runtimeStarted = defineStage({
  family: 'runtime.started',
  classes: ['observer'],
  mode: 'parallel',
  payload: runtimeStartedPayload,
  shared: ['config'],
  purpose: 'Tells that the process is up and its extensions are loaded.',
  emitter: 'host',
  emittedAt: 'src/host/lifecycle.ts: when the host starts, before anything else',
});

export const runtimeStoppingPayload = Type.Object(
  {
    reason: optional(text('Why it stops: a signal, the end of its input, an error.')),
    uptimeMs: optional(amount('How long it ran, in milliseconds.')),
  },
  closed,
);
/** The payload of `runtime.stopping`. */
export interface RuntimeStopping extends Static<typeof runtimeStoppingPayload> {}

export const runtimeStopping = defineStage({
  family: 'runtime.stopping',
  classes: ['observer'],
  mode: 'parallel',
  payload: runtimeStoppingPayload,
  timeoutMs: 5_000,
  stageTimeoutMs: 5_000,
  purpose: 'The last chance to write something down before the process ends.',
  emitter: 'host',
  emittedAt: 'src/host/lifecycle.ts: when the host has drained, after everything else',
});

export const gatewayStartingPayload = Type.Object(gatewayFields, closed);
/** The payload of `gateway.starting`. */
export interface GatewayStarting extends Static<typeof gatewayStartingPayload> {}

export const gatewayStarting = defineStage({
  family: 'gateway.starting',
  classes: ['observer'],
  mode: 'parallel',
  payload: gatewayStartingPayload,
  purpose: 'Startup side effects that must begin before any account takes messages.',
  emitter: 'host',
  emittedAt: 'src/host/lifecycle.ts: before the first account starts',
});

export const gatewayStartedPayload = Type.Object(
  {
    ...gatewayFields,
    config,
    startedAtMs: optional(amount('When it was ready, in milliseconds since 1970.')),
    dependencies: optional(opaque('What a bridged source hands its startup handlers.')),
  },
  closed,
);
/** The payload of `gateway.started`. */
export interface GatewayStarted extends Static<typeof gatewayStartedPayload> {}

export const gatewayStarted = defineStage({
  family: 'gateway.started',
  classes: ['observer'],
  mode: 'parallel',
  payload: gatewayStartedPayload,
  shared: ['config', 'dependencies'],
  purpose: 'Telemetry and startup side effects once messages can come.',
  emitter: 'host',
  emittedAt: 'src/host/lifecycle.ts: when every account has started or failed to',
});

export const gatewayStoppingPayload = Type.Object(
  {
    ...gatewayFields,
    reason: optional(text('Why it stops.')),
    isRestart: optional(flag('It is expected back.')),
  },
  closed,
);
/** The payload of `gateway.stopping`. */
export interface GatewayStopping extends Static<typeof gatewayStoppingPayload> {}

export const gatewayStopping = defineStage({
  family: 'gateway.stopping',
  classes: ['observer'],
  mode: 'parallel',
  payload: gatewayStoppingPayload,
  timeoutMs: 5_000,
  stageTimeoutMs: 5_000,
  purpose: 'Shutdown side effects while accounts can still be reached.',
  emitter: 'host',
  emittedAt: 'src/host/lifecycle.ts: when the host begins to drain',
});
