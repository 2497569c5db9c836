import type { ComponentChildren, JSX } from 'preact';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly title?: string;
  /** The key that does the same. */
  readonly shortcut?: string;
  readonly pressed?: boolean;
}

export function Button({ children, onClick, kind, type = 'button', disabled, label, title, shortcut, pressed }: ButtonProps): JSX.Element {
  return (
    <button
      type={type}
      class={kind === undefined ? 'button' : `button ${kind}`}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      aria-keyshortcuts={shortcut}
      title={title}
    >
      {children}
      {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}
