# One image for every part of Quintain: web server, command line and, later, workers.
FROM python:3.11-slim

# bubblewrap is the sandbox in which submitted models run.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir '.[postgres,s3]'

RUN useradd --create-home --uid 1000 quintain \
    && mkdir /data \
    && chown quintain:quintain /data
USER quintain

ENV QUINTAIN_WORKSPACE=/data \
    QUINTAIN_HOST=0.0.0.0 \
    QUINTAIN_LOG_FORMAT=json
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

CMD ["quintain", "serve"]
