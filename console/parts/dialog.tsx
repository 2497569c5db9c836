import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts';
import { Button, IconButton } from './button';
import { ErrorNote } from './error-note';
import { useBusy } from './use-busy';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly isWide?: boolean;
}

/** The focus returns to the earlier element. */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A late return could take the focus from a newer element.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      // Elements below an open dialog cannot take the focus.
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-inside stack">
        <div class="split flow wrap">
          <h2 id={titleId}>{title}</h2>
          <IconButton label={texts.parts.close} icon="close" onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}

interface FormDialogProps extends DialogProps {
  readonly submit: string;
  readonly onSubmit: () => void;
  readonly kind?: 'danger';
  readonly leave?: string;
  readonly isReady?: boolean;
}

export function FormDialog(props: FormDialogProps) {
  const { children, submit, onSubmit, kind = 'primary', leave = texts.parts.cancel, isReady = true, ...dialog } = props;
  return (
    <Dialog {...dialog}>
      <form
        class="form stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSubmit();
        }}
      >
        {children}
        <div class="actions flow wrap">
          <Button onClick={dialog.onClose}>{leave}</Button>
          <Button kind={kind} type="submit" disabled={!isReady}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ActDialog({
  act,
  isReady = true,
  children,
  ...dialog
}: Omit<FormDialogProps, 'onSubmit'> & { readonly act: () => Promise<unknown> }) {
  const { isBusy, error, start } = useBusy();
  return (
    <FormDialog {...dialog} isReady={isReady && !isBusy} onSubmit={() => start(act)}>
      {children}
      {error !== undefined && <ErrorNote error={error} />}
    </FormDialog>
  );
}
