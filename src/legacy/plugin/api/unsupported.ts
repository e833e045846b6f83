const rows = {
  'api.registerTool':
    'Tools belong to the agent: give them to its AgentProvider, and judge their calls in before_tool_call.',
  'api.registerHttpRoute': 'Serve it from a service: registerService with a server of your own.',
  'api.registerHttpHandler': 'Serve it from a service: registerService with a server of your own.',
  'api.registerGatewayMethod': 'Answer a chat command instead: registerCommand.',
  'api.registerCli':
    'Answer a chat command with registerCommand, or ship a command line of your own.',
  'api.registerProvider': 'Give createHost an AgentProvider: in an agent, or in `providers`.',
  'api.registerContextEngine':
    'Change the prompt in before_prompt_build, and follow compaction in before_compaction and after_compaction.',
  'api.runtime.config':
    'Read api.config, and api.pluginConfig for your own part. Nothing writes them.',
  'api.runtime.subagent': 'Subagents belong to the agent: its AgentProvider starts them.',
  'api.runtime.system': 'Use node:child_process, in a service or a command.',
  'api.runtime.media': 'Use node:fs and fetch.',
  'api.runtime.tts': 'Call the speech service yourself, in a service or a command.',
  'api.runtime.stt': 'Call the speech service yourself, in a service or a command.',
  'api.runtime.tools': 'Tools belong to the agent: give them to its AgentProvider.',
  'api.runtime.channel':
    'Channels belong to the host: write a ChannelPlugin of sluice/channel to take messages in, and send with Host.send.',
  'api.runtime.events.onSessionTranscriptUpdate': 'Use the hook before_message_write.',
  'api.runtime.logging': 'Use api.logger.',
  'api.runtime.state': 'Use the stateDir that a service is started with.',
  'api.runtime.modelAuth': 'Read the key from the environment, or from api.pluginConfig.',
  'openclaw.plugin.json: skills':
    'Skills belong to the agent: copy them to where it looks for its own.',
  'registerChannel: gateway.startAccount':
    'The channel sends only. To take messages in, write a ChannelPlugin of sluice/channel.',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a part that is not supported. */
export type UnsupportedMember = keyof typeof rows;

/**
 * The parts of OpenClaw's plugin api that have no place here, and what to use instead. Each is present and refuses.
 *
 * @example
 * unsupportedMembers['api.registerTool']; // 'Tools belong to the agent: ...'
 */
export const unsupportedMembers: Readonly<Record<UnsupportedMember, string>> = rows;
