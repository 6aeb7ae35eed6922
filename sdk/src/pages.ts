/** A list: await it for its first page, or iterate over it for everything; pages are fetched as they are needed. */

export interface Page {
  hasMore: boolean;
  /** For `cursor` of the next call; null on the last page. */
  nextCursor: string | null;
}

export class Pages<P extends Page, T> implements PromiseLike<P>, AsyncIterable<T> {
  private first: Promise<P> | undefined;

  /** `fetchPage` gets the cursor of the page, undefined for the first. Nothing is sent before somebody asks. */
  constructor(
    private readonly fetchPage: (cursor?: string) => Promise<P>,
    private readonly itemsOf: (page: P) => T[],
  ) {}

  then<A = P, B = never>(
    fulfilled?: ((page: P) => A | PromiseLike<A>) | null,
    rejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.start().then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: any) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.start().catch(rejected);
  }

  finally(settled?: (() => void) | null): Promise<P> {
    return this.start().finally(settled);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* this.itemsOf(page);
  }

  /** Page by page. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    for (let page = await this.start(); ; page = await this.fetchPage(page.nextCursor ?? undefined)) {
      yield page;
      if (!page.hasMore || page.nextCursor === null) return;
    }
  }

  private start(): Promise<P> {
    this.first ??= this.fetchPage();
    return this.first;
  }
}
