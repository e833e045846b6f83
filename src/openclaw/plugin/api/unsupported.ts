/** The register functions that profile 2026.9 added, and that have no place here. */
const laterRegistrations = [
  ...['HostedMediaResolver', 'WidgetPresenter', 'GatewayAccessPolicy', 'BoardWidgetContentKind'],
  ...['SessionCatalog', 'NodeCliFeature', 'Reload', 'NodeHostCommand', 'NodeInvokePolicy'],
  ...['SecurityAuditCollector', 'GatewayDiscoveryService', 'CliBackend', 'TextTransforms'],
  ...['ConfigMigration', 'MigrationProvider', 'AutoEnableProbe', 'WorkerProvider'],
  ...['ModelCatalogProvider', 'EmbeddingProvider', 'SpeechProvider', 'DecisionProvider'],
  ...['RealtimeTranscriptionProvider', 'RealtimeVoiceProvider', 'MediaUnderstandingProvider'],
  ...['TranscriptSourceProvider', 'ImageGenerationProvider', 'VideoGenerationProvider'],
  ...['MusicGenerationProvider', 'WebFetchProvider', 'WebSearchProvider', 'InteractiveHandler'],
  ...['CompactionProvider', 'AgentHarness', 'CodexAppServerExtensionFactory', 'ToolMetadata'],
  ...['AgentToolResultMiddleware', 'TrustedToolPolicy', 'DetachedTaskRuntime', 'SessionAction'],
  ...['MemoryCapability', 'MemoryPromptSupplement', 'MemoryPromptPreparation'],
  ...['MemoryCorpusSupplement', 'ControlUiDescriptor', 'SessionSchedulerJob', 'SessionExtension'],
  ...['RuntimeLifecycle', 'AgentEventSubscription'],
] as const;

/** The groups of the api that profile 2026.9 added. */
const laterGroups = {
  'api.session':
    'enqueueNextTurnInjection of its workflow is there. State of a session is written by clients of the gateway of OpenClaw, which is not here: keep it in files of your own, by the sessionKey of the context of a hook.',
  'api.agent': 'Listen with api.runtime.events.onAgentEvent.',
  'api.runContext': 'Keep it by the runId of the context of a hook.',
  'api.lifecycle':
    'signal and onDispose are there. Or use registerService: its stop is called at the end.',
} as const;

const rows = {
  ...laterGroups,
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
  'api.runtime.state': 'Use openKeyedStore, or a file in the folder of resolveStateDir.',
  'api.runtime.modelAuth': 'Read the key from the environment, or from api.pluginConfig.',
  'openclaw.plugin.json: skills':
    'Load the plugin from its folder: `LegacyPlugin.skills` has them then.',
  'registerGatewayMethod: context':
    'There is no gateway here: a method has its params, and responds.',
} as const satisfies Readonly<Record<string, string>>;

type LaterMember = `api.register${(typeof laterRegistrations)[number]}`;

/** The name of a part that is not supported. */
export type UnsupportedMember = keyof typeof rows | LaterMember;

const laterMembers = Object.fromEntries(
  laterRegistrations.map((name) => [
    `api.register${name}`,
    name === 'SessionExtension'
      ? laterGroups['api.session']
      : 'It serves a part of OpenClaw that is not here: write it as an extension.',
  ]),
) as Readonly<Record<LaterMember, string>>; // a row for each name

/**
 * The parts of OpenClaw's plugin api that have no place here, and what to use instead. Each is present and refuses.
 *
 * @example
 * unsupportedMembers['api.runtime.tools']; // 'Write the tool yourself: ...'
 */
export const unsupportedMembers: Readonly<Record<UnsupportedMember, string>> = {
  ...rows,
  ...laterMembers,
};

/** The members of `api.runtime` that are served, although the table has the part that they belong to. */
export const servedMembers: ReadonlySet<string> = new Set(
  [
    ...['config.loadConfig', 'config.current'],
    ...['logging.shouldLogVerbose', 'logging.getChildLogger'],
    ...['state.resolveStateDir', 'state.openKeyedStore', 'state.openChannelIngressQueue'],
    ...['state.openSyncKeyedStore', 'state.openBlobStore'],
    ...['system.runCommandWithTimeout', 'system.enqueueSystemEvent'],
    ...['system.formatNativeDependencyHint', 'media.detectMime', 'media.mediaKindFromMime'],
    ...['media.isVoiceCompatibleAudio', 'media.loadWebMedia', 'media.getImageMetadata'],
  ].map((member) => `api.runtime.${member}`),
);

/** The groups of `api.runtime` that are served: a member that one of them lacks is refused by its name. */
export const servedGroups: ReadonlySet<string> = new Set(
  [
    ...['channel', 'channel.activity', 'channel.commands', 'channel.debounce', 'channel.groups'],
    ...['channel.media', 'channel.mentions', 'channel.pairing', 'channel.reactions'],
    ...['channel.reply', 'channel.routing', 'channel.session', 'channel.text', 'channel.inbound'],
    ...['channel.turn', 'channel.inbound.ingress'],
  ]
    .map((group) => `api.runtime.${group}`)
    .concat('api.session', 'api.session.workflow', 'api.lifecycle')
    .concat('api.lifecycle.signal', 'api.lifecycle.onDispose'),
);

/** The members of an object of the api that the table lists for every profile, each with its stand-in. */
export function standInsOf(owner: string, make: (member: UnsupportedMember) => unknown): object {
  const missing = Object.keys(rows) as (keyof typeof rows)[]; // the table's own keys
  return membersOf(
    missing.filter((member) => !(member in laterGroups) && member.replace(/\.\w+$/, '') === owner),
    make,
  );
}

/** The groups, and the functions, of the api that profile 2026.9 added: each has its stand-in. */
export function laterStandInsOf(
  kind: 'groups' | 'functions',
  make: (member: UnsupportedMember) => unknown,
): Readonly<Record<string, unknown>> {
  const members = Object.keys(kind === 'groups' ? laterGroups : laterMembers);
  return membersOf(members as UnsupportedMember[], make); // the tables' own keys
}

function membersOf(
  members: readonly UnsupportedMember[],
  make: (member: UnsupportedMember) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    members.map((member) => [member.slice(member.lastIndexOf('.') + 1), make(member)]),
  );
}
