import './errors.js'; // merges the codes of this layer into ErrorCode

export type {
  ChannelCapabilities,
  InteractiveElement,
  StreamDelta,
  StreamSender,
} from '../stream/index.js';
export type * from './channel.js';
export type { ChannelPreviews, LeftPreview } from './channel.js';
export { checkedPermits, checkPermit } from './check-permit.js';
export type * from './declaration.js';
export type * from './message.js';
export type { SendResult } from './message.js';
export { approveSend, type CapabilitiesOf, SendApproval, SendPermit } from './permit.js';
export { StreamApproval, type StreamPermits } from './stream-permits.js';
export * from './terminal/console.js';
export { type PaintLine, type Terminal, TerminalScreen } from './terminal/terminal-screen.js';
export type { TerminalLook } from './terminal/terminal-sender.js';
