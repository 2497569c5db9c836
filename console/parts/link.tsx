import type { ComponentChildren } from 'preact';

/** The address comes from a run: other addresses than http and https become text. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  const isWebAddress = URL.canParse(href) && ['http:', 'https:'].includes(new URL(href).protocol);
  if (!isWebAddress) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
