import { definedFields } from 'sluice-kernel/internal';
import type { DeviceIdentity } from '../device/device-identity.js';
import { protocolVersion } from './hello.js';

/** How a client presents itself. */
export interface ClientIntroduction {
  /** The gateway's shared token. It reaches no log and no error. */
  readonly token?: string;
  /** The gateway's password, if it has one instead of a token. */
  readonly password?: string;
  /** Without one a gateway lets the client in, and then refuses it every request. See `loadDeviceIdentity`. */
  readonly device?: DeviceIdentity;
  /** The permissions that the client asks for; `operator.read` and `operator.write` by default. */
  readonly scopes?: readonly string[];
  /** One of the ids that the gateway knows; `gateway-client` by default. */
  readonly clientId?: string;
  /** One of the modes that the gateway knows; `backend` by default. */
  readonly clientMode?: string;
  readonly displayName?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly locale?: string;
}

/** The role of a client that talks to agents. */
const role = 'operator';

/** The parameters of `connect`. @param nonce of the challenge. @param signedAtMs milliseconds since 1970. */
export function connectParams(client: ClientIntroduction, nonce: string, signedAtMs: number) {
  const { clientId = 'gateway-client', clientMode = 'backend', version = '0' } = client;
  const { platform = process.platform, locale = 'en-US', displayName } = client;
  const { scopes = ['operator.read', 'operator.write'], token, password, device } = client;
  /** Proves that the client has the key, by a signature over all that it says of itself. */
  const proofOf = (device: DeviceIdentity) => {
    const { id, publicKey } = device;
    const family = ''; // none is told, and the signature says so
    const whose = ['v3', id, clientId, clientMode, role, scopes.join(',')];
    const when = [String(signedAtMs), token ?? '', nonce, platform.trim().toLowerCase(), family];
    const signed = [...whose, ...when].join('|');
    return { id, publicKey, signature: device.sign(signed), signedAt: signedAtMs, nonce };
  };
  return {
    minProtocol: protocolVersion,
    maxProtocol: protocolVersion,
    client: {
      id: clientId,
      version,
      platform,
      mode: clientMode,
      ...definedFields({ displayName }),
    },
    role,
    scopes,
    caps: ['tool-events'],
    locale,
    ...((token !== undefined || password !== undefined) && {
      auth: definedFields({ token, password }),
    }),
    ...(device !== undefined && { device: proofOf(device) }),
  };
}
