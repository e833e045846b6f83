import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { LoadedExtension, Registration, RegistrationKind } from '@sluice/sdk/extension';
import type { AgentProvider } from '@sluice/sdk/stream';
import type { Logger } from 'sluice-kernel';
import { type Accounts, type RunningAccount, remove } from '../provided/accounts.js';
import type { ChatCommand } from '../provided/chat-commands.js';
import { accountOfJobs } from '../provided/jobs-channel.js';
import { nameOfRoute, type Routes } from '../provided/routes.js';
import type { Tools } from '../provided/tools.js';
import type { AgentDefinition } from './options.js';

/** The things that a host was given, and those that extensions provide. */
export interface Offers {
  /** Those of the options, those of the plugins, and those that extensions provide. */
  readonly channels: ChannelPlugin[];
  /** Agents from the options and from extensions, by id. */
  readonly agents: Map<string, AgentDefinition>;
  readonly commands: Map<string, ChatCommand>;
  readonly providers: AgentProvider[];
  readonly accounts: Accounts;
  /** The routes of the extensions. */
  readonly routes: Routes;
  /** The tools of the plugins and of the extensions. */
  readonly tools: Tools;
  readonly logger: Logger;
}

/** A thing that a live extension has registered by name, as its host has it. */
export interface ClaimedRegistration<K extends RegistrationKind = RegistrationKind> {
  readonly extensionId: string;
  readonly registration: Registration<K>;
  /** Its jobs come by it. */
  readonly account: RunningAccount;
  /** Aborts when the extension is unloaded. */
  readonly signal: AbortSignal;
}

/** The things that a host has taken from its extensions (spec §13.5). */
export class ClaimedProvisions {
  readonly #claimed = new Map<
    LoadedExtension,
    { readonly channels: ChannelPlugin[]; readonly undo: (() => void)[] }
  >();
  /** Called when the host has taken something. */
  onClaimed: (() => void) | undefined;
  /** The registrations of all extensions. */
  readonly #registered = new Set<ClaimedRegistration>();

  /**
   * Claims what an extension provides. A name that is taken stays with its first owner, and the log says so:
   * what else the extension does is not touched.
   */
  take(offers: Offers, extension: LoadedExtension): void {
    const { channels, agents, commands, providers, routes, tools, logger } = offers;
    const { extensionId } = extension;
    const own: ChannelPlugin[] = [];
    const undo: (() => void)[] = [];
    const isFree = (what: string, taken: boolean): boolean => {
      if (taken) logger.error(`${what} of ${extensionId} is left out: another has that name`);
      return !taken;
    };
    for (const channel of extension.provided('channel')) {
      const taken = channels.some(({ id }) => id === channel.id);
      if (!isFree(`channel "${channel.id}"`, taken)) continue;
      channels.push(channel);
      own.push(channel);
      undo.push(() => remove(channels, channel));
    }
    for (const agent of extension.provided('agent')) {
      if (!isFree(`agent "${agent.id}"`, agents.has(agent.id))) continue;
      agents.set(agent.id, agent);
      undo.push(() => agents.delete(agent.id));
      if (providers.some(({ id }) => id === agent.provider.id)) continue;
      providers.push(agent.provider);
      undo.push(() => remove(providers, agent.provider));
    }
    for (const command of extension.provided('command')) {
      if (!isFree(`command "/${command.name}"`, commands.has(command.name))) continue;
      commands.set(command.name, command);
      undo.push(() => commands.delete(command.name));
    }
    for (const route of extension.provided('route')) {
      const about = { extensionId, route: nameOfRoute(route) };
      const added = routes.add({ extensionId, route });
      if (typeof added === 'string')
        logger.error('a route is left out', { ...about, problem: added });
      else undo.push(added);
      if (!routes.isOpen)
        logger.warn('a route is provided, and no port of the host is open: nobody can ask', about);
    }
    for (const tool of extension.provided('tool'))
      undo.push(tools.add({ owner: extensionId, toolsFor: () => [tool] }));
    for (const registration of extension.registered())
      undo.push(this.#register(offers, extensionId, registration));
    this.#claimed.set(extension, { channels: own, undo });
    this.onClaimed?.();
  }

  /** The channels that an extension provides and that the host took. */
  channelsOf(extension: LoadedExtension): readonly ChannelPlugin[] {
    return this.#claimed.get(extension)?.channels ?? [];
  }

  /** The registrations of one kind that there are now. */
  registered<K extends RegistrationKind>(kind: K): readonly ClaimedRegistration<K>[] {
    const isOfKind = (one: ClaimedRegistration): one is ClaimedRegistration<K> =>
      one.registration.kind === kind;
    return [...this.#registered].filter(isOfKind);
  }

  /** Finds a registration by the account of its jobs. */
  registeredBy<K extends RegistrationKind>(
    kind: K,
    { accountId }: RunningAccount,
  ): ClaimedRegistration<K> | undefined {
    return this.registered(kind).find(({ account }) => account.accountId === accountId);
  }

  /** Gives everything of an extension back. */
  drop(extension: LoadedExtension): void {
    for (const undo of this.#claimed.get(extension)?.undo ?? []) undo();
    this.#claimed.delete(extension);
  }

  /** Takes a registration, with an account of its own. @returns the function that gives both back. */
  #register({ accounts }: Offers, extensionId: string, registration: Registration): () => void {
    const { kind, name } = registration;
    const account = accountOfJobs({ kind, extensionId, name });
    const gone = new AbortController();
    const taken = { extensionId, registration, account, signal: gone.signal };
    const added = accounts.addOwn(account);
    this.#registered.add(taken);
    return () => {
      this.#registered.delete(taken);
      added[Symbol.dispose]();
      gone.abort();
    };
  }
}
