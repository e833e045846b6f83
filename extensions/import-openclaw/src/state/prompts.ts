import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Draft, placeOf } from '../convert/draft.js';
import type { Node } from '../source/node.js';

/** The files of a workspace that OpenClaw puts into the prompt, in its order. */
const names = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'];

/** The text by which the config names prompt files, until it is written. */
export const promptMark = '\u0000prompt:';

/** The folder of an agent's files. */
export function workspaceOf(draft: Draft, node: Node, id: string): string {
  const named =
    node.get('workspace').text() ?? draft.root.get('agents', 'defaults', 'workspace').text();
  return placeOf(draft, named ?? (id === 'main' ? 'workspace' : `workspace-${id}`));
}

/** Copies the prompt files of an agent, and names them for its config. */
export function promptFiles(draft: Draft, node: Node, id: string): string | undefined {
  const workspace = workspaceOf(draft, node, id);
  const there = names.filter((name) => existsSync(join(workspace, name)));
  const copied = there.map((name) => {
    const file = `prompts/${encodeURIComponent(id)}/${name}`;
    draft.files.set(file, readFileSync(join(workspace, name)));
    draft.moved.set(
      relative(draft.folder, join(workspace, name)),
      `A part of the prompt: ${file}.`,
    );
    return `./${file}`;
  });
  return copied.length === 0 ? undefined : `${promptMark}${JSON.stringify(copied)}`;
}
