import type { InjectOptions } from './inject.js';
import type { AskedQuestion, QuestionToAsk } from './question.js';
import type { ExtensionMessage, KeptSend } from './send.js';
import type { ExtensionStore } from './store.js';

/**
 * The things that a host does for its extensions: a port of members, each by the id of an extension. A member may be missing,
 * and is looked up when it is called, so a host may come after the setup of its extensions. The grants of an extension
 * are checked before a member is called: `HostAccess`.
 */
export interface ExtensionHost {
  /** The store of an extension. Without it the store is in memory. */
  storeOf(extensionId: string): ExtensionStore;
  /** The folder of an extension for its files, which is there when this returns. */
  stateDirOf(extensionId: string): string;
  /** Takes a text for the transcript of a session, and resolves when it is kept. */
  inject(
    extensionId: string,
    sessionKey: string,
    text: string,
    options?: InjectOptions,
  ): Promise<void>;
  /** Asks a question of an extension, and resolves when it is kept. */
  ask(extensionId: string, question: QuestionToAsk): Promise<AskedQuestion>;
  /** Sends a message of an extension, and resolves when it is kept. */
  send(extensionId: string, message: ExtensionMessage): Promise<KeptSend>;
}
