import { errorMaker, type RowsOf } from 'sluice-kernel/internal';

/** Makes the errors of the gateway client. */
export const gatewayError = errorMaker({
  'bad-client-option': {
    message: 'Option "{option}" of the gateway client is wrong: {problem}.',
    cause: 'An option of the client, or of its provider, has a wrong value.',
    hint: 'Fix the option. The options are described at the type of the constructor’s argument.',
  },
  'bad-device-key': {
    message: 'The device key {path} cannot be used: {problem}.',
    cause:
      'A device key belongs to one user, and is an Ed25519 private key that nobody else can read.',
    hint: 'Make it so (chmod 600), or take the file away: a new key is made then, and the gateway has to pair with it.',
  },
  'gateway-unreachable': {
    message: 'The gateway cannot be reached: {problem}.',
    cause: 'The address is wrong, the gateway does not run, or it does not let this client in.',
    hint: 'See that the gateway runs at that address, and that the token and the device key are the ones it knows.',
  },
  'gateway-protocol': {
    message: 'The gateway and this client have no protocol in common: {problem}.',
    cause:
      'The gateway is of a release of OpenClaw that this release of Sluice does not know, or it is no gateway.',
    hint: 'Take the releases of both that docs/agents.md names. The token and the device key have nothing to do with it.',
  },
  'gateway-refused': {
    message: 'The gateway refused {method} ({reason}): {problem}.',
    cause: 'The parameters are wrong, or the client’s device or scopes do not allow it.',
    hint: 'See the reason. For a missing scope: give the client a device identity, and pair it with the gateway.',
  },
  'gateway-timed-out': {
    message: 'The gateway did not answer {method} within {timeoutMs} ms.',
    cause:
      'The gateway is busy, or its answer was lost. Whether it has done what was asked is not known.',
    hint: 'Raise the time-out, or see why the gateway is slow. Ask again only what may happen twice.',
  },
  'gateway-disconnected': {
    message: 'The gateway is not connected; {method} has no answer.',
    cause: 'The connection was not there yet, or was lost while an answer was waited for.',
    hint: 'Wait for client.ready(), then ask again what may happen twice.',
  },
  'gateway-busy': {
    message: '{method} was not sent to the gateway: {problem}.',
    cause: 'More is asked of the gateway than it takes.',
    hint: 'Wait for answers before asking for more.',
  },
  'client-stopped': {
    message: 'The gateway client is stopped.',
    cause: 'stop() was called before, or while an answer was waited for.',
    hint: 'Make a new client.',
  },
  'request-aborted': {
    message: 'The wait for {method} was aborted.',
    cause: 'The signal that was given was aborted.',
    hint: 'Nothing is to be done. The gateway keeps all that it has received already.',
  },
  'run-registered': {
    message: 'Run "{runId}" has a callback for its {kind} events already.',
    cause: 'Two readers want the events of one run, or the first was never unregistered.',
    hint: 'Unregister the first, or listen with onEvent: it hears everything.',
  },
  'too-many-runs': {
    message: '{count} runs have a callback for their {kind} events; run "{runId}" is refused.',
    cause: 'That many runs are under way, or runs are registered and never unregistered.',
    hint: 'Let runs end first, or raise maxRuns.',
  },
});

declare module 'sluice-kernel/internal' {
  interface ErrorRows extends RowsOf<typeof gatewayError> {}
}
