/** A place to send to. */
export interface Address {
  /** The id of a conversation, or of a member: that is the conversation with him. */
  readonly channel: string;
  readonly threadTs?: string;
}

/**
 * Reads an address as this channel writes it, or as people do: `C012AB3CD`, `slack:channel:C012AB3CD`, `user:U012AB3CD`,
 * `C012AB3CD:1700000000.000100`.
 *
 * @returns `undefined` where it is none.
 */
export function parseAddress(to: string): Address | undefined {
  const bare = to
    .trim()
    .replace(/^slack:/i, '')
    .replace(/^(channel|group|user):/i, '');
  const match = /^([CDGUW][A-Z\d]{2,})(?::(?:thread:)?(\d+\.\d+))?$/.exec(bare);
  const [, channel, threadTs] = match ?? [];
  if (channel === undefined) return undefined;
  return { channel, ...(threadTs !== undefined && { threadTs }) };
}
