const rows = {
  'api.registerProvider': 'Give createHost an AgentProvider: in an agent, or in `providers`.',
  'api.registerContextEngine':
    'Change the prompt in before_prompt_build, and follow compaction in before_compaction and after_compaction.',
  'api.runtime.config': 'Read it with loadConfig. Nothing writes it: it belongs to the operator.',
  'api.runtime.subagent': 'Subagents belong to the agent: its AgentProvider starts them.',
  'api.runtime.system': 'There is no heartbeat here: do the work in a service, or in a command.',
  'api.runtime.media': 'Images are not changed here: use a library of your own.',
  'api.runtime.tts': 'Call the speech service yourself, in a service or a command.',
  'api.runtime.stt': 'Call the speech service yourself, in a service or a command.',
  'api.runtime.tools': 'Write the tool yourself: registerTool with an execute of your own.',
  'api.runtime.channel':
    'The functions that serve every channel are there. For one of a single provider, write a ChannelPlugin of sluice/channel.',
  'api.runtime.events.onSessionTranscriptUpdate': 'Use the hook before_message_write.',
  'api.runtime.logging': 'Use getChildLogger, or api.logger.',
  'api.runtime.state': 'Use resolveStateDir.',
  'api.runtime.modelAuth': 'Read the key from the environment, or from api.pluginConfig.',
  'openclaw.plugin.json: skills':
    'Load the plugin from its folder: `LegacyPlugin.skills` has them then.',
  'registerGatewayMethod: context':
    'There is no gateway here: a method has its params, and responds.',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a part that is not supported. */
export type UnsupportedMember = keyof typeof rows;

/**
 * The parts of OpenClaw's plugin api that have no place here, and what to use instead. Each is present and refuses.
 *
 * @example
 * unsupportedMembers['api.runtime.tools']; // 'Write the tool yourself: ...'
 */
export const unsupportedMembers: Readonly<Record<UnsupportedMember, string>> = rows;

/** The members of `api.runtime` that are served, although the table has the part that they belong to. */
export const servedMembers: ReadonlySet<string> = new Set(
  [
    ...['config.loadConfig', 'logging.shouldLogVerbose', 'logging.getChildLogger'],
    ...['state.resolveStateDir', 'system.runCommandWithTimeout', 'system.enqueueSystemEvent'],
    ...['system.formatNativeDependencyHint', 'media.detectMime', 'media.mediaKindFromMime'],
    ...['media.isVoiceCompatibleAudio', 'media.loadWebMedia', 'media.getImageMetadata'],
  ].map((member) => `api.runtime.${member}`),
);

/** The groups of `api.runtime` that are served: a member that one of them lacks is refused by its name. */
export const servedGroups: ReadonlySet<string> = new Set(
  [
    ...['channel', 'channel.activity', 'channel.commands', 'channel.debounce', 'channel.groups'],
    ...['channel.media', 'channel.mentions', 'channel.pairing', 'channel.reactions'],
    ...['channel.reply', 'channel.routing', 'channel.session', 'channel.text'],
  ].map((group) => `api.runtime.${group}`),
);

/** The members of an object of the api that the table lists, each with its stand-in. */
export function standInsOf(owner: string, make: (member: UnsupportedMember) => unknown): object {
  const missing = Object.keys(rows) as UnsupportedMember[]; // the table's own keys
  return Object.fromEntries(
    missing
      .filter((member) => member.replace(/\.\w+$/, '') === owner)
      .map((member) => [member.slice(owner.length + 1), make(member)]),
  );
}
