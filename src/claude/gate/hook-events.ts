/** The hooks that tell of a run what its frames do not, or only later. */
export const csdkHookEvents = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PreCompact',
  'PostCompact',
  'SubagentStart',
  'SubagentStop',
] as const;
