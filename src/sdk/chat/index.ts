export { pause } from 'sluice-kernel/internal';
export * from './access.js';
export { ChatAccounts } from './accounts.js';
export { type FileSource, fileSource } from './file-source.js';
export { jsonOf } from './json-of.js';
export { type Delivery, type Patience, PendingAcks } from './pending-acks.js';
export * from './receiver.js';
export type * from './send/port.js';
export { sendMessage } from './send/send-message.js';
export { startFailure } from './send/start-failure.js';
export type { ChatSurface, MessageParts, SendParts, Unsendable } from './send/surface.js';
export { chatPreviews, type PreviewParts } from './stream/previews.js';
export { chatStreamSender, type StreamParts } from './stream/stream-sender.js';
export { fromMarkdown } from './text/markdown.js';
export { type Markup, nested } from './text/nested.js';
export {
  type Mark,
  plainText,
  type RichText,
  type Tag,
  trimmed,
} from './text/rich-text.js';
export { split } from './text/split.js';
