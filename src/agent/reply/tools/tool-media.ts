import { readDirectives } from '../text/directives/read-directives.js';
import { picturePath, textBlocks } from './tool-result.js';

/** The media that a tool's answer names; at a path of this machine only where the tool may name files. */
export function toolMedia(result: unknown, mayNameFiles: boolean): readonly string[] {
  const named = textBlocks(result).flatMap((text) => readDirectives(text).mediaUrls);
  const path = named.length === 0 ? picturePath(result) : undefined;
  const media = path === undefined ? named : [path];
  return allowedMedia(media, mayNameFiles);
}

/** Leaves the media out that a tool may not name. */
export function allowedMedia(media: readonly string[], mayNameFiles: boolean): readonly string[] {
  return media.filter((url) => mayNameFiles || /^https?:\/\//i.test(url));
}
