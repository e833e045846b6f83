/** Names of attributes that the conventions have (OpenTelemetry 1.42, GenAI of 2026), as far as they may be used here. */
export const conventionAttributes: ReadonlySet<string> = new Set([
  ...['error.type', 'messaging.system', 'messaging.operation.type', 'messaging.operation.name'],
  ...['messaging.message.id', 'gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.agent.name'],
  ...['gen_ai.conversation.id', 'gen_ai.request.model', 'gen_ai.response.finish_reasons'],
  ...['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.token.type'],
  ...['gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.tool.call.arguments'],
  ...['gen_ai.tool.call.result', 'gen_ai.input.messages', 'gen_ai.output.messages'],
]);

/** The attributes of Sluice's own, as spec/sight.md lists them. */
export const ownAttributes: ReadonlySet<string> = new Set([
  ...['sluice.event.id', 'sluice.correlation.id', 'sluice.account.id', 'sluice.update.attempt'],
  ...[
    'sluice.outcome',
    'sluice.family',
    'sluice.changes',
    'sluice.cancel.code',
    'sluice.cancel.by',
  ],
  ...['sluice.guardrail.name', 'sluice.guardrail.policy_id', 'sluice.handler.class'],
  ...['sluice.result', 'sluice.recheck', 'sluice.send.id', 'sluice.send.kind', 'sluice.send.state'],
  ...['sluice.lane.of', 'sluice.lane.wait_ms', 'sluice.question.state', 'sluice.audit.by'],
  ...['sluice.audit.verdict', 'sluice.attempt', 'sluice.attempt.status'],
  'sluice.attempt.duration_ms',
]);
