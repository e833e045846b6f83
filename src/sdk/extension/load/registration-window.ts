import {
  didYouMean,
  type HandlerClass,
  isSluiceError,
  type Kernel,
  type OpenContribution,
  openKernel,
} from 'sluice-kernel/internal';
import type { ExtensionApi } from '../define/api.js';
import type { TapListeners } from '../define/extension-host.js';
import type { Scope } from '../define/scope.js';
import { extensionError } from '../errors.js';
import { nameProblem, type Registration } from '../named/registration.js';
import { notGranted } from './check-grants.js';
import { tapRelayOf } from './tap-relay.js';

/** The part of the api that registers handlers. */
export type Registering = Pick<
  ExtensionApi,
  'observe' | 'augment' | 'mutate' | 'veto' | 'resolve' | 'provide'
>;

/** A thing that an extension has given, with its kind. */
export interface Provision {
  readonly kind: string;
  readonly value: unknown;
}

/** The time in which an extension may contribute, with its contributions so far: none of them is live yet. */
export interface RegistrationWindow {
  readonly registering: Registering;
  /** The things that `api.provide` was given, in order. */
  readonly provisions: readonly Provision[];
  /** The things that were registered by name, in order. */
  readonly registrations: readonly Registration[];
  /**
   * Takes a thing that is registered by name.
   *
   * @param grant the grant that it needs.
   * @throws SluiceError `setup-ended`, or `bad-registration` if the name is none, or is taken.
   * @example
   * window.register({ kind: 'schedule', name: 'tea', value }, 'schedule');
   */
  register(registration: Registration, grant?: string): void;
  /**
   * Takes a tap.
   *
   * @throws SluiceError `setup-ended`.
   */
  tap(listeners: TapListeners): void;
  /** The files that `api.reloadOn` was given, in order. */
  readonly files: readonly string[];
  /** Takes a file whose change is a change of the extension. */
  reloadOn(file: string): void;
  /** Takes nothing more, and uses none of the contributions. */
  close(): void;
  /**
   * Closes, and makes everything live in one synchronous step, so that no dispatch sees a part of it. If the
   * kernel refuses one, none stays. May be called again with another scope, once the first was disposed.
   *
   * @throws SluiceError of the kernel, if it refuses a contribution.
   */
  goLive(kernel: Kernel, scope: Scope): void;
}

type OpenHandler = OpenContribution['handler'];

const optionNames = [
  'priority',
  'timeoutMs',
  'match',
  'mode',
  'detached',
  'failClosed',
  'recheck',
  'preview',
];

/**
 * Opens the registration window of an extension (spec §13).
 *
 * @param requested the grants that its manifest asks for; the error of a missing grant names them.
 */
export function openRegistration(
  extensionId: string,
  requested: readonly string[] = [],
): RegistrationWindow {
  const staged: OpenContribution[] = [];
  const provisions: Provision[] = [];
  const registrations: Registration[] = [];
  const taps: TapListeners[] = [];
  const files: string[] = [];
  /** Those that the contributions need besides their classes. */
  const needed = new Set<string>();
  let open = true;
  const mustBeOpen = (what: string, who: object = {}): void => {
    if (!open) throw extensionError('setup-ended', { extensionId, ...who, what });
  };

  const register =
    (verb: keyof Registering, name: HandlerClass) =>
    (family: string, id: string, ...rest: readonly unknown[]): void => {
      const who = { extensionId, contributionId: String(id), family: String(family) };
      const what = `${extensionId}/${who.contributionId}: api.${verb}("${who.family}")`;
      mustBeOpen(what, who);
      const [options, handler] = rest.length < 2 ? [undefined, rest[0]] : rest;
      const problem = optionsProblem(options);
      if (problem !== undefined) throw extensionError('bad-options', { ...who, problem });
      const contribution = { ...(options as object | undefined), family, class: name };
      staged.push({ ...contribution, extensionId, id, handler: handler as OpenHandler }); // the kernel checks it
    };

  return {
    registering: {
      observe: register('observe', 'observer'),
      augment: register('augment', 'augmenter'),
      mutate: register('mutate', 'mutator'),
      veto: register('veto', 'veto'),
      resolve: register('resolve', 'resolver'),
      provide: (kind, value) => {
        mustBeOpen(`${extensionId}: api.provide("${String(kind)}")`);
        provisions.push({ kind, value });
        needed.add(`provide:${kind}`);
      },
    },
    provisions,
    registrations,
    register: (registration, grant) => {
      const { kind, name } = registration;
      const what = `${extensionId}: api.${kind}("${String(name)}")`;
      mustBeOpen(what);
      const problem = nameProblem(registration, registrations);
      if (problem !== undefined)
        throw extensionError('bad-registration', { extensionId, what, problem });
      registrations.push(registration);
      if (grant !== undefined) needed.add(grant);
    },
    tap: (listeners) => {
      mustBeOpen(`${extensionId}: api.tap`);
      taps.push({ ...listeners });
      needed.add('tap');
    },
    files,
    reloadOn: (file) => {
      mustBeOpen(`${extensionId}: api.reloadOn`);
      files.push(file);
    },
    close: () => {
      open = false;
    },
    goLive: (kernel, scope) => {
      open = false;
      const live: { readonly label: string; readonly registration: Disposable }[] = [];
      const missing: string[] = [];
      try {
        for (const contribution of staged) {
          const { family, class: name, id } = contribution;
          try {
            const registration = openKernel(kernel).contribute(contribution);
            live.push({ label: `${name} ${id} on ${family}`, registration });
          } catch (refused) {
            if (!isSluiceError(refused, 'not-granted')) throw refused;
            missing.push(`${name}:${family}`); // all of them are told at once
          }
        }
        missing.push(...[...needed].filter((grant) => !kernel.may(extensionId, grant)));
        if (missing.length > 0) throw notGranted({ extensionId, requested }, missing);
      } catch (refused) {
        for (const { registration } of live.reverse()) registration[Symbol.dispose]();
        throw refused;
      }
      for (const { label, registration } of live) scope.add(label, registration);
      for (const tap of kernel.isAudited(extensionId) ? [] : taps)
        scope.add('tap', openTap(kernel, extensionId, tap));
    },
  };
}

/** Finds a misspelt option: `failclosed` would quietly leave a veto open. */
function optionsProblem(options: unknown): string | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== 'object' || options === null) return 'its options must be an object';
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown === undefined) return undefined;
  return `there is no option "${unknown}"${didYouMean(unknown, optionNames)}`;
}

function openTap(
  kernel: Kernel,
  extensionId: string,
  { fact, around, ...listeners }: TapListeners,
): Disposable {
  const relay = tapRelayOf(kernel);
  const parts = [
    kernel.tap(listeners, { extensionId }),
    ...(fact === undefined ? [] : [relay.hear(extensionId, fact)]),
    ...(around === undefined ? [] : [relay.wrap(around)]),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const part of parts) part[Symbol.dispose]();
    },
  };
}
