export { pause } from '../kernel/index.js';
export {
  type AccessPolicy,
  type AccessRules,
  type Admission,
  admit,
  policiesOf,
  type Visit,
} from './access.js';
export { type FileSource, fileSource } from './file-source.js';
export { type Delivery, type Patience, PendingAcks } from './pending-acks.js';
export {
  answer,
  isSameSecret,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from './receiver.js';
export type {
  CallAnswer,
  ChatPort,
  MessageId,
  PartCall,
  PostCall,
  PostedMessage,
  RefusalCause,
} from './send/port.js';
export { sendMessage } from './send/send-message.js';
export type { ChatSurface, MessageParts, SendParts, Unsendable } from './send/surface.js';
export { chatPreviews, type PreviewParts } from './stream/previews.js';
export { chatStreamSender, type StreamParts } from './stream/stream-sender.js';
export { fromMarkdown } from './text/markdown.js';
export { type Markup, nested } from './text/nested.js';
export { type Mark, plainText, type RichText, type Tag, trimmed } from './text/rich-text.js';
export { split } from './text/split.js';
