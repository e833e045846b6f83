/**
 * The facts about a channel that a program needs before it sets the channel up: the command line has no other knowledge of it
 * (spec §14.15). It stands in the definition of the extension that provides the channel, as `declares: { channel }`.
 *
 * @example
 * export default defineExtension({
 *   id: 'pigeons',
 *   declares: {
 *     channel: {
 *       id: 'pigeon',
 *       options: [{ flags: '--loft <name>', description: 'the loft to listen at', setting: 'loft' }],
 *     },
 *   },
 *   setup: (api) => api.provide('channel', pigeon),
 * });
 */
export interface ChannelDeclaration {
  /** The id of the channel. `--channel` and the config name the channel by it. */
  readonly id: string;
  /** Options of `sluice run` for this channel. */
  readonly options?: readonly ChannelOption[];
  /** The secrets that an account needs. */
  readonly credentials?: readonly ChannelCredential[];
  /** The beginning of a host on this channel, for `sluice init --channel`. */
  readonly starter?: ChannelStarter;
}

/** An option of the command line that sets one key of the extension's config. The config's schema reads the value. */
interface ChannelOption {
  /** A long flag that `sluice run` does not have, with `<value>` if it takes a text: `--api-root <url>`. */
  readonly flags: string;
  /** One line for people. */
  readonly description: string;
  /** The key of the config that gets the text, or `true` if the flag takes none. */
  readonly setting: string;
}

/** A secret of an account. `sluice doctor` finds one that stands in a config file, and one that cannot be right. */
export interface ChannelCredential {
  /** A noun with its article, such as `a bot token`. */
  readonly name: string;
  /** The key that holds it in a config, such as `token`. A key that ends with it, such as `botToken`, counts as well. */
  readonly setting: string;
  /** The variable of the environment that holds it if the config says nothing. */
  readonly env: string;
  /** Matches the whole secret, and no other text. */
  readonly shape: RegExp;
  /** The shape in words: `digits, a colon and 35 characters`. */
  readonly looksLike: string;
  /** A sentence that says where people get one. */
  readonly hint: string;
}

/** Text for the files that `sluice init --channel` writes. */
interface ChannelStarter {
  /** The `config` of the extension in `sluice.config.ts`, as TypeScript: an object literal, with comments if they help. */
  readonly config: string;
  /** More files, by their paths in the folder of the host. */
  readonly files?: Readonly<Record<string, string>>;
}

declare module '../extension/define/declarations.js' {
  interface Declarations {
    /** The channel that the extension provides. */
    readonly channel?: ChannelDeclaration;
  }
}
