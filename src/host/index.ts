import './errors.js'; // merges the codes of this layer into ErrorCode

export type { ChatAnswer, ChatCommand, ChatCommandContext } from './chat-commands.js';
export {
  type CommandCall,
  type CommandOptions,
  type CommandResult,
  parseCommandLine,
  runCommand,
} from './commands.js';
export { type ConfigVerdict, checkConfig } from './config/check-config.js';
export { defineConfig } from './config/define-config.js';
export { type ConfigProblem, placeOf } from './config/problem.js';
export type { SecretSources } from './config/references.js';
export { configSchema, type HostConfig, type SluiceConfig } from './config/schema.js';
export { contributeDefaultChoices, hostExtensionId } from './default-choices.js';
export {
  type OutcomeDifference,
  outcomeDifferences,
} from './explain/outcome-differences.js';
export { type RecordedOutcome, recordedOutcome } from './explain/recorded-outcome.js';
export {
  type NotReplayed,
  type ReplayedDispatch,
  replayDispatches,
} from './explain/replay-dispatches.js';
export type {
  AnswerFailure,
  FailureCode,
  FailureTextOption,
  FailureTexts,
} from './failure-text.js';
export {
  type HealthServer,
  type HealthServerOptions,
  startHealthServer,
} from './health/health-server.js';
export { type HostNames, hostCheck, isLoopback } from './health/host-header.js';
export type { HostHealth } from './health/host-health.js';
export type { HistoryBounds } from './history.js';
export {
  createHost,
  type Host,
  type StopOptions,
  type UnpromptedMessage,
} from './host.js';
export type { HostState } from './host-state.js';
export { type CompactReport, compactJournal } from './journal/compact-journal.js';
export { bothTaps, type DispatchTapOptions, dispatchTap } from './journal/dispatch-tap.js';
export { eventIdOf } from './journal/event-id.js';
export type {
  DispatchFilter,
  DispatchRecord,
  Journal,
  JournalFilter,
  JournalReader,
  JournalStats,
  NewDispatch,
  NewSend,
  NewUpdate,
  SendEndRecord,
  SendFilter,
  SendRecord,
  SendState,
  UpdateEnd,
  UpdateFilter,
  UpdateRecord,
  UpdateState,
} from './journal/journal.js';
export type { JournalOptions, SqliteJournal } from './journal/journal-options.js';
export { memoryJournal } from './journal/memory-journal.js';
export { journalProblems, type RepairReport, repairJournal } from './journal/repair-journal.js';
export type { Retention } from './journal/retention.js';
export { openJournal } from './journal/sqlite-journal.js';
export { type ReadOptions, readJournal } from './journal/sqlite-reader.js';
export { type Damage, damageLine } from './journal/table-rows.js';
export { type TendedJournal, tendJournal } from './journal/tend-journal.js';
export { type LaneRules, Lanes } from './lanes.js';
export type { StartReport, StopReport } from './lifecycle.js';
export { type ErrorSummary, errorSummary } from './logging/error-summary.js';
export { type LogLevel, type PinoLoggerOptions, pinoLogger } from './logging/pino-logger.js';
export { allFields, publicFields } from './logging/public-fields.js';
export { withoutSecrets } from './logging/without-secrets.js';
export type { MessageEnd, SendReport } from './message-end.js';
export type {
  AgentDefinition,
  AmbiguousSend,
  HostExtension,
  HostOptions,
} from './options.js';
export { usualTurnMs } from './options.js';
export type { Place } from './place.js';
export type { ReplyOptions } from './reply-options.js';
export { Slots } from './slots.js';
export {
  openSqlite,
  type SqliteDatabase,
  type SqliteOptions,
  type SqliteRow,
  type SqliteStatement,
} from './sqlite/open-sqlite.js';
export { openToOthers } from './sqlite/private-file.js';
export type { StoredRow } from './sqlite/sqlite-texts.js';
export type { SqliteValue } from './sqlite/sqlite-values.js';
export { memoryStore, type SessionRecord, type Store, type TranscriptPart } from './store.js';
export { ActiveStreams, type StreamPlace } from './streaming/active-streams.js';
export {
  type DeliverStreamContext,
  deliverStream,
  type StreamedAnswer,
  type TriggeredAgent,
} from './streaming/deliver-stream.js';
