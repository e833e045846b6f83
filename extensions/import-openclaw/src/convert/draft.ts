import { resolve } from 'node:path';
import type { Settings } from '../carried/settings.js';
import type { Report } from '../report/report.js';
import type { Node } from '../source/node.js';

/** An extension or a plugin in a config. */
export interface Entry {
  readonly path: string;
  readonly config?: unknown;
  readonly required?: true;
}

/** The host that is being written: what conversions add to. */
export interface Draft {
  /** The config of OpenClaw. */
  readonly root: Node;
  /** The state folder of OpenClaw. */
  readonly folder: string;
  /** The home of its user, for paths that begin with `~`. */
  readonly home: string;
  readonly report: Report;
  /** The fields of `sluice.config.ts` that stand for themselves. */
  readonly config: Record<string, unknown>;
  readonly channels: string[];
  readonly extensions: Entry[];
  readonly plugins: Entry[];
  /** The settings of the extension of this package. */
  readonly carried: { -readonly [Key in keyof Settings]?: Settings[Key] };
  /** Files by their paths in the folder that is written. */
  readonly files: Map<string, string | Uint8Array>;
  /** A line on each thing that could not be read, with its file and line. */
  readonly broken: string[];
  /** A line on each file of the state folder, by its path in it. */
  readonly moved: Map<string, string>;
}

/** The id of an agent as OpenClaw reads it: in small letters, and without those that a path could have. */
export function agentIdOf(written: string): string {
  const id = written
    .trim()
    .toLowerCase()
    .replace(/[^a-z\d_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return id === '' ? 'main' : id.slice(0, 64);
}

/** The agents of the config of OpenClaw; without a list there is one, `main`. */
export function agentsOf(root: Node): readonly { readonly id: string; readonly node: Node }[] {
  const listed = root
    .get('agents', 'list')
    .items()
    .flatMap((node) => {
      const id = node.get('id').text();
      return id === undefined ? [] : [{ id: agentIdOf(id), node }];
    });
  return listed.length > 0 ? listed : [{ id: 'main', node: root.get('agents', 'main') }];
}

/** The id of the agent that answers by default. */
export function defaultAgentOf(root: Node): string {
  const agents = agentsOf(root);
  return (
    (agents.find(({ node }) => node.get('default').flag() === true) ?? agents[0])?.id ?? 'main'
  );
}

/** Reads a path of the config: from the state folder, or from the home of its user. */
export function placeOf({ folder, home }: Draft, path: string): string {
  return resolve(folder, path.replace(/^~(?=\/|$)/, home));
}
