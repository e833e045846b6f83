import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';

/**
 * The identity of a client: an Ed25519 key. The private half is in no field, and so in no log. A gateway takes the
 * scopes away from a client without an identity.
 */
export interface DeviceIdentity {
  /** The SHA-256 of the raw public key, in hex. */
  readonly id: string;
  /** The raw public key, in base64url. */
  readonly publicKey: string;
  /** Signs a text. @returns the signature, in base64url. */
  sign(text: string): string;
}

/**
 * Makes an identity that is kept nowhere: a gateway asks to pair anew each time. To keep one, see
 * `loadDeviceIdentity`.
 *
 * @example
 * const client = new OpenClawClient({ url, token, device: createDeviceIdentity() });
 */
export function createDeviceIdentity(): DeviceIdentity {
  return identityOf(generateKeyPairSync('ed25519').privateKey);
}

/** A new private key, as a PEM text. */
export function newKeyText(): string {
  return generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** The identity of a private key's PEM text; nothing if that is no Ed25519 key. */
export function identityOfText(text: string): DeviceIdentity | undefined {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'ed25519' ? identityOf(key) : undefined;
  } catch {
    return undefined; // what is wrong with it could quote it
  }
}

function identityOf(privateKey: KeyObject): DeviceIdentity {
  const { x: publicKey = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return {
    id: createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex'),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}
