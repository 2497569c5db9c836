import type { ComponentChildren } from 'preact';
import type { Action } from '../../contract/access';
import { whyMayNot } from '../data/identity';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly type?: 'submit';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly title?: string;
  readonly shortcut?: string;
  readonly pressed?: boolean;
  /** Without the action, the button is disabled and says so. */
  readonly needs?: Action;
}

export function Button({ children, kind, type, label, shortcut, pressed, needs, disabled, title, ...rest }: ButtonProps) {
  const missing = needs && whyMayNot(needs);
  return (
    <button
      type={type ?? 'button'}
      class={`button ${kind ?? ''}`}
      aria-label={label}
      aria-pressed={pressed}
      aria-keyshortcuts={shortcut}
      disabled={missing !== undefined || disabled}
      title={missing ?? title}
      {...rest}
    >
      {children}
      {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly icon?: IconName;
  readonly children?: string;
  readonly shortcut?: string;
  readonly isSmall?: boolean;
}

export function IconButton({ label, onClick, icon, children, shortcut, isSmall = false }: IconButtonProps) {
  return (
    <button
      type="button"
      class={isSmall ? 'icon-button bare mini' : 'icon-button bare'}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      title={shortcut === undefined ? label : `${label} (${shortcut})`}
      onClick={onClick}
    >
      {icon === undefined ? children : <Icon name={icon} />}
    </button>
  );
}

interface ChipsProps<Name> {
  readonly label: string;
  readonly options: readonly { readonly name: Name; readonly shown: ComponentChildren; readonly title?: string | undefined }[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

export function Chips<Name extends string | undefined>({ label, options, chosen, onChoose }: ChipsProps<Name>) {
  return (
    <div class="chips fixed" role="group" aria-label={label}>
      {options.map(({ name, shown, title }) => (
        <button key={name ?? ''} type="button" class="chip" aria-pressed={name === chosen} title={title} onClick={() => onChoose(name)}>
          {shown}
        </button>
      ))}
    </div>
  );
}

const paths = {
  copy: 'M6 5.5h6.5v8H6zM3.5 10.5v-8H10',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M9.5 3L4.5 8l5 5M5 8h8',
  system: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11zM8 2.5v11M8 5h3.5M8 8h5M8 11h3.5',
  light:
    'M8 5.2a2.8 2.8 0 100 5.6 2.8 2.8 0 000-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.8.8M11.8 11.8l.8.8M12.6 3.4l-.8.8M4.2 11.8l-.8.8',
  dark: 'M13 9.5A5.5 5.5 0 016.5 3 5.5 5.5 0 1013 9.5z',
  keyboard: 'M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6',
} as const;

type IconName = keyof typeof paths;

function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
