// The page's whole library, as one file that the build makes of the three packages: `vendor/build.mjs`.
import { html as htm } from 'htm/preact';

export { computed, effect, type Signal, signal } from '@preact/signals';
export { type ComponentChildren, render } from 'preact';
export { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const written = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * Makes elements of a template. A line break is a space, as in a page of HTML: htm alone drops it with the spaces around it, and
 * glues the words on both sides.
 */
export function html(template: TemplateStringsArray, ...values: unknown[]): ReturnType<typeof htm> {
  let texts = written.get(template);
  if (texts === undefined) {
    const last = template.length - 1;
    const spaced = template.map((text, at) => {
      const one = text.replace(/\s*\n\s*/g, ' ');
      const begun = at === 0 ? one.trimStart() : one;
      return at === last ? begun.trimEnd() : begun;
    });
    texts = Object.assign(spaced, { raw: spaced });
    written.set(template, texts);
  }
  return htm(texts, ...values);
}
