import type { Infer } from '../../schema/schema.js';
import type { Named } from '../../stage/named.js';
import * as f from './field.js';

/**
 * Every annotation there is. Annotations travel downstream, so a field means the same and follows the same law
 * wherever it is set; a stage's row picks the fields that make sense there (spec §7). Lists append.
 */
export const annotations = f.object({
  notes: f.optional(f.texts('Diagnostics for people: what a handler found, in a sentence each.')),
  labels: f.optional(f.texts('Words to sort or filter this event and what follows from it by.')),
  context: f.optional(f.texts('Pieces for the model to read this turn; they join the additions.')),
  memoryKeys: f.optional(f.texts('Keys under which memory is to be looked up or kept.')),
  indexKeys: f.optional(f.texts('Keys under which a handler has filed this result or delivery.')),
  replies: f.optional(f.texts('Lines to answer the source with, joined by a blank line.')),
  language: f.optional(f.text('The language of the message or the answer, as a BCP 47 tag.')),
  summary: f.optional(f.text('What this event is about, in a sentence.')),
  bindingReady: f.optional(f.always('The place where a child is to talk has been prepared.')),
});
/** The annotations that there are, of all canonical families: an event has those of earlier stages, too. */
export interface Annotations extends Readonly<Infer<typeof annotations>> {}

/** The annotations of a stage: those that every stage has, and others. */
export function annotated<Name extends keyof Annotations = never>(
  ...names: readonly Name[]
): Named<Pick<Annotations, 'notes' | 'labels' | Name>> {
  const { properties } = annotations;
  const fields = (['notes', 'labels', ...names] as const).map((name) => [name, properties[name]]);
  return f.object(Object.fromEntries(fields)) as Named<
    Pick<Annotations, 'notes' | 'labels' | Name>
  >; // those names were picked
}

/** The annotation fields for which the last writer wins, in every stage that has them. */
export const replaceableAnnotations = ['language', 'summary', 'bindingReady'] as const;
