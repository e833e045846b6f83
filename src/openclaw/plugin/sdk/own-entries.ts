interface Entry {
  readonly configSchema?: unknown;
}

/** The fields of `defineChannelPluginEntry` that are its own. */
interface ChannelEntry extends Entry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly plugin: unknown;
  readonly setRuntime?: (runtime: unknown) => void;
  readonly registerFull?: (api: ChannelApi) => void;
}

/** The part of a plugin's api that a channel's entry uses. */
interface ChannelApi {
  readonly runtime: unknown;
  readonly registerChannel: (registration: { readonly plugin: unknown }) => void;
}

/** `definePluginEntry`: the entry as it is given, with its schema made when it is first read. */
export function pluginEntry(empty: () => object) {
  return <E extends Entry>({ configSchema = empty, ...entry }: E): object => {
    let made: unknown;
    return {
      ...entry,
      get configSchema(): unknown {
        return (made ??= typeof configSchema === 'function' ? configSchema() : configSchema);
      },
    };
  };
}

/** `defineChannelPluginEntry`: an entry that registers the channel, and then the rest. */
export function channelEntry(empty: () => object) {
  const define = pluginEntry(empty);
  return ({ plugin, setRuntime, registerFull, ...entry }: ChannelEntry): object => {
    const register = (api: ChannelApi): void => {
      setRuntime?.(api.runtime);
      api.registerChannel({ plugin });
      registerFull?.(api);
    };
    const defined = define({ ...entry, register });
    return Object.assign(defined, { channelPlugin: plugin });
  };
}
