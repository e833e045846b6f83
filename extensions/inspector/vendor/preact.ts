// The page's whole library, as one file that the build makes of the three packages: `vendor/build.mjs`.
export { computed, effect, type Signal, signal } from '@preact/signals';
export { html } from 'htm/preact';
export { type ComponentChildren, render } from 'preact';
export { useEffect, useRef, useState } from 'preact/hooks';
