import { isIP } from 'node:net';

/**
 * Says if an address is of this machine alone, so that no other can ask there.
 *
 * @example
 * isLoopback('127.0.0.1'); // true
 */
export function isLoopback(address: string): boolean {
  return (
    address === 'localhost' ||
    address === '::1' ||
    (isIP(address) === 4 && address.startsWith('127.'))
  );
}

/** The names and the address that requests may give for a server. */
export interface HostNames {
  /** The address that it listens at. */
  readonly address: string;
  /** Further names without a port, such as those that a proxy passes on. */
  readonly names?: readonly string[];
}

/**
 * Makes a judge of the `Host` header of a request to a server that wants no token and listens for this machine alone. A page
 * in a browser can have its own name point there, and would then read the answers: the header still has that name. So
 * `localhost`, the loopback addresses and the given names count, and nothing else. At another address everything counts.
 *
 * @example
 * const isKnown = hostCheck({ address: '127.0.0.1', names: ['status.example.org'] });
 * isKnown('127.0.0.1:8080'); // true
 * isKnown('evil.example'); // false
 */
export function hostCheck({
  address,
  names = [],
}: HostNames): (header: string | undefined) => boolean {
  if (!isLoopback(address)) return () => true;
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (header) => {
    if (header === undefined) return true; // HTTP/1.0, which no browser speaks
    const name = nameIn(header);
    return isLoopback(name) || known.has(name);
  };
}

/** Reads the name in a `Host` header, without the port and without the brackets of an address. */
function nameIn(header: string): string {
  const [, address, name = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header.trim()) ?? [];
  return (address ?? name).toLowerCase().replace(/\.$/, '');
}
