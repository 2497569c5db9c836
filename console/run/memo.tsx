import type { FunctionComponent } from 'preact';
import { Component, h } from 'preact';

/** A component that is drawn again only when its properties say so. */
export function memo<Props extends object>(
  Inner: FunctionComponent<Props>,
  isSame: (before: Props, after: Props) => boolean,
): FunctionComponent<Props> {
  class Memo extends Component<Props> {
    override shouldComponentUpdate(after: Props): boolean {
      return !isSame(this.props, after);
    }

    override render(): ReturnType<FunctionComponent<Props>> {
      return h(Inner, this.props as Props);
    }
  }
  return Memo as unknown as FunctionComponent<Props>;
}
