import type { ComponentChildren, JSX } from 'preact';

/** A link to what a run names, which may be anything: one that is not http or https is text. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }): JSX.Element {
  if (!isWebAddress(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

export function isWebAddress(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
