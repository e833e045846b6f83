import type { HostOptions, HostProgram } from './options.js';

/** @deprecated Use `NonNullable<HostOptions['approvals']>`. */
export type ApprovalOptions = NonNullable<HostOptions['approvals']>;

/** @deprecated Use the parameter of `onAmbiguousSend` of `HostProgram`. */
export type AmbiguousSend = Parameters<NonNullable<HostProgram['onAmbiguousSend']>>[0];

/** @deprecated Use `NonNullable<HostOptions['cancelText']>`. */
export type CancelTexts = Readonly<NonNullable<HostOptions['cancelText']>>;

/** @deprecated Use a key of `HostOptions['cancelText']`. */
export type CancelReplyCode = keyof CancelTexts;

/** @deprecated Use `history` of `HostOptions['session']`. */
export type HistoryBounds = Readonly<NonNullable<NonNullable<HostOptions['session']>['history']>>;
