import type { ComponentChildren, JSX } from 'preact';

/** The address comes from a run: other addresses than http and https become text. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }): JSX.Element {
  if (!isWebAddress(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function isWebAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
