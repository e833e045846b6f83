// The names of this layer that only the command line and tests use. They are no part of the package.

export { agentPackages, packageAgentForms } from './config/agent-sections.js';
export { checkConfig } from './config/check-config.js';
export { placeOf } from './config/place.js';
export { type ConfigProblem, schemaNodeAt } from './config/problem.js';
export { configSchema, type HostConfig } from './config/schema.js';
export { roleEntry } from './config/setting.js';
export * from './explain/replay-dispatches.js';
export { answerApproval } from './inquiries/answer-approval.js';
export { type ApprovalRow, shortIdOf } from './inquiries/approval-row.js';
export { approvalLine, grantLine } from './inquiries/approval-text.js';
export type { GrantRow } from './inquiries/grants.js';
export { PersistedApprovals } from './inquiries/persisted-approvals.js';
export { authorPlace, type ErrorSummary } from './logging/error-summary.js';
export { type LogLevel, pinoLogger } from './logging/pino-logger.js';
export { allFields, publicFields } from './logging/public-fields.js';
export { newCounts } from './parts/counts.js';
export { type ExtensionData, extensionData } from './parts/extension-data.js';
export { hostSettings } from './parts/given-options.js';
export { usualTurnMs } from './parts/options.js';
export * from './provided/commands.js';
export { contributeDefaultChoices, hostExtensionId } from './provided/default-choices.js';
export { rolesOf } from './provided/roles.js';
export { nameOfRoute, routeProblem } from './provided/routes.js';
export { suspendedNames } from './receive/suspended.js';
export { Texts } from './texts/texts.js';
export { type RecordedOutcome, recordedOutcome } from './timeline/recorded-outcome.js';
