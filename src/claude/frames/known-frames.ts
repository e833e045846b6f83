/** Types of frames that have no session event, as the SDK names them (csdk §8). */
export const silentTypes: ReadonlySet<string> = new Set([
  'active_goal',
  'auth_status',
  'autocompact_state',
  'prompt_suggestion',
  'rate_limit_event',
]);

/** Subtypes of `system` that have no event here. */
export const silentSystemTypes: ReadonlySet<string> = new Set([
  'api_retry',
  'background_tasks_changed',
  'commands_changed',
  'control_request_progress',
  'elicitation_complete',
  'files_persisted',
  'hook_progress',
  'hook_response',
  'informational',
  'local_command_output',
  'memory_recall',
  'mirror_error',
  'notification',
  'permission_denied',
  'plugin_install',
  'post_turn_summary',
  'session_metadata',
  'session_writes_lost',
  'task_notification',
  'task_progress',
  'task_started',
  'task_summary',
  'task_updated',
  'thinking_tokens',
  'worker_shutting_down',
]);
